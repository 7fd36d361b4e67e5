import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useConfig } from '../../app/context.tsx';
import { Snippets } from '../../parts/forms/snippets.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
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
      <Snippets<Language>
        label="Language"
        choices={LANGUAGES}
        value={language}
        onChange={setLanguage}
        text={text}
        textLabel={`Settings for ${language}`}
        copyLabel={`Copy settings for ${language}`}
        testId="variables"
      />
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
