import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useConfig } from '../../app/context.tsx';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import { ArrivalStatus } from './arrival.tsx';
import { toEndpoint } from './endpoint.ts';
import { type CreatedToken, IngestToken } from './ingest-token.tsx';
import { formatSnippet, LANGUAGES, type Language, TOKEN_PLACEHOLDER } from './snippets.ts';
import classes from './telemetry.module.css';

/** A token, the variables for a language, and whether something has arrived. */
export function SendPanel() {
  const [created, setCreated] = useState<CreatedToken>();
  const [tokenId, setTokenId] = useState<string>();
  return (
    <Panel title="Send telemetry">
      <div className={classes.setup}>
        <Stack gap="lg">
          <IngestToken
            created={created}
            onCreated={(token) => {
              setCreated(token);
              // It waits for the rows of this token, also after it is hidden.
              if (token) setTokenId(token.dashboardToken.id);
            }}
          />
          <ArrivalStatus tokenId={tokenId} />
        </Stack>
        <Variables token={created?.token} />
      </div>
    </Panel>
  );
}

function Variables({ token }: { token: string | undefined }) {
  const config = useConfig();
  const [language, setLanguage] = useState<Language>('Node.js');
  const endpoint = toEndpoint(config, new URL(window.location.href));
  const { text, note } = formatSnippet(language, endpoint, token);
  return (
    <Stack gap="xs">
      <div className={classes.languages}>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          data={[...LANGUAGES]}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
      </div>
      <div className={classes.command}>
        <ScrollRegion label={`Settings for ${language}`} className={classes.snippet}>
          <pre data-testid="variables">{text}</pre>
        </ScrollRegion>
        <CopyIconButton value={text} label={`Copy settings for ${language}`} />
      </div>
      <Text size="xs" c="dimmed">
        {note}.
      </Text>
      {token === undefined && (
        <Text size="xs" c="dimmed">
          Replace {TOKEN_PLACEHOLDER} with an ingest token.
        </Text>
      )}
      {endpoint.grpc && (
        <Text size="xs" c="dimmed">
          OTLP/gRPC is at <code>{endpoint.grpc}</code>, with the protocol <code>grpc</code> and the same header.
        </Text>
      )}
    </Stack>
  );
}
