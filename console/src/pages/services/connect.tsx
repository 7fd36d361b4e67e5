import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Service } from '../../api/types.ts';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import { CLIENTS, type Client, formatConnection, PACKAGES } from './connection-strings.ts';
import classes from './services.module.css';

interface Props {
  service: Service;
  /** Left out: a placeholder. */
  password?: string | undefined;
}

/** A first query with the client of choice, or why there is no endpoint. */
export function Connect({ service, password }: Props) {
  const [client, setClient] = useState<Client>('curl');
  const endpoint = service.driver === 'simulated' ? undefined : service.endpoints?.[0];
  if (!endpoint)
    return (
      <Text size="sm" c="dimmed">
        {REASONS[service.driver]}
      </Text>
    );
  const text = formatConnection(client, endpoint, password);
  return (
    <Stack gap="xs">
      <div className={classes.clients}>
        <SegmentedControl
          size="xs"
          aria-label="Client"
          data={[...CLIENTS]}
          value={client}
          onChange={(value) => setClient(value as Client)}
        />
      </div>
      <div className={classes.command}>
        <ScrollRegion label={`Connection with ${client}`} className={classes.snippet}>
          <pre data-testid={`connect-${client.toLowerCase()}`}>{text}</pre>
        </ScrollRegion>
        <CopyIconButton value={text} label={`Copy ${client} example`} />
      </div>
      {PACKAGES[client] && (
        <Text size="xs" c="dimmed">
          Needs <code>{PACKAGES[client]}</code>
        </Text>
      )}
      {password === undefined && (
        <Text size="sm" c="dimmed">
          {HINTS[service.state] ??
            'Replace PASSWORD. The server stores only a hash of it; if you do not have it, reset it.'}
        </Text>
      )}
    </Stack>
  );
}

const HINTS: Partial<Record<Service['state'], string>> = {
  idle: 'The service is idle. The next query wakes it and waits until it runs. Replace PASSWORD.',
  stopped: 'The service is stopped. Queries are rejected until you start it.',
};

const REASONS: Record<Service['driver'], string> = {
  simulated: 'No endpoint: the service is simulated, so there is no database to connect to.',
  embedded: 'No endpoint yet: it opens when the process of the service is started for the first time.',
  kubernetes: 'No endpoint: the fleet file gives no kubernetes.url that queries can be forwarded to.',
  webhook: 'No endpoint: the webhook reports no address that queries can be forwarded to.',
};
