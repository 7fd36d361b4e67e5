import { Stack, Text } from '@mantine/core';
import type { Service } from '../../api/types.ts';
import { CopyIconButton } from '../../parts/copy-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Copyable, Fact, Facts } from './facts.tsx';
import { formatQueryCurl } from './query-curl.ts';
import classes from './services.module.css';

/** Where clients connect, with a command to copy; or why there is no endpoint. */
export function ServiceEndpoint({ service }: { service: Service }) {
  const endpoint = service.driver === 'simulated' ? undefined : service.endpoints?.[0];
  return (
    <Panel title="Endpoint">
      {endpoint ? (
        <Stack gap="md">
          <Facts>
            <Fact label="Host and port">
              <Copyable value={`${endpoint.host}:${endpoint.port}`} label="Copy host and port" />
            </Fact>
            <Fact label="Protocol">{endpoint.protocol}</Fact>
            <Fact label="User">{endpoint.username}</Fact>
          </Facts>
          <Command value={formatQueryCurl(endpoint)} />
          <Text size="sm" c="dimmed">
            {HINTS[service.state] ??
              'Replace PASSWORD. The server stores only a hash of it; if you do not have it, reset it.'}
          </Text>
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {REASONS[service.driver]}
        </Text>
      )}
    </Panel>
  );
}

const Command = ({ value }: { value: string }) => (
  <div className={classes.command}>
    <code data-testid="endpoint-curl">{value}</code>
    <CopyIconButton value={value} label="Copy curl command" />
  </div>
);

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
