import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Service } from '../../../api/types.ts';
import { Snippets } from '../../../parts/forms/snippets.tsx';
import { type Client, findEndpoints, formatConnection, listClients, PACKAGES } from './connection-strings.ts';

interface Props {
  service: Service;
  /** Left out: a placeholder. */
  password?: string | undefined;
}

/** A first query with the client of choice, or why there is no endpoint. */
export function Connect({ service, password }: Props) {
  const [client, setClient] = useState<Client>('curl');
  const endpoints = findEndpoints(service);
  if (!endpoints)
    return (
      <Text size="sm" c="dimmed">
        {REASONS[service.driver]}
      </Text>
    );
  const text = formatConnection(client, endpoints, password);
  return (
    <Stack gap="xs">
      <Snippets<Client>
        label="Client"
        choices={listClients(endpoints)}
        value={client}
        onChange={setClient}
        text={text}
        textLabel={`Connection with ${client}`}
        copyLabel={`Copy ${client} example`}
        testId={`connect-${client.toLowerCase()}`}
        wraps
      />
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
