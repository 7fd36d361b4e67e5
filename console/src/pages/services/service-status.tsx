import { Group, Stack, Text } from '@mantine/core';
import type { Service } from '../../api/types.ts';
import { formatNumber } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { Fact, Facts } from '../../parts/layout/facts.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ServiceState } from '../../parts/services/service-facts.tsx';
import { DRIVER_LABELS, formatObservedSize, listDifferences } from '../../parts/services/service-status.ts';
import { listEvidence } from './evidence-text.ts';

type Status = NonNullable<Service['status']>;

/** Names the driver, so that a simulated service is not taken for a running database. */
export function ServiceSubtitle({ service }: { service: Service }) {
  return (
    <Group gap="sm" component="span">
      <ServiceState service={service} />
      <Text size="sm" c="dimmed" component="span">
        {DRIVER_LABELS[service.driver]}
      </Text>
    </Group>
  );
}

/** What needs attention, on every tab. */
export function ServiceNotes({ service: { status } }: { service: Service }) {
  return (
    <>
      {status?.state === 'degraded' && status.reason && (
        <Note tone="bad" title="The service is degraded">
          {status.reason}
        </Note>
      )}
      {status?.drift && (
        <Note tone="warn" title="Changed outside Pilothouse">
          {status.drift.text} (<Timestamp at={status.drift.since} show="ago" />)
        </Note>
      )}
    </>
  );
}

/** What was requested, what was observed and what is being changed. */
export function ServiceStatus({ service }: { service: Service }) {
  const { status } = service;
  return (
    <Panel title="Status">
      {status && service.driver !== 'simulated' ? (
        <StatusFacts service={service} status={status} />
      ) : (
        <Facts>
          <Fact label="State">
            <ServiceState service={service} />
          </Fact>
          <Fact label="Process">None: a simulated service answers no queries</Fact>
        </Facts>
      )}
    </Panel>
  );
}

function StatusFacts({ service, status }: { service: Service; status: Status }) {
  const { since, reason, requested, observed, desiredState, inFlight, evidence } = status;
  const differences = listDifferences(status);
  const isDegraded = status.state === 'degraded';
  return (
    <Stack gap="md">
      <Facts>
        <Fact label="State">
          <ServiceState service={service} /> since <Timestamp at={since} />
        </Fact>
        <Fact label="Reason">{isDegraded ? undefined : reason}</Fact>
        <Fact label="Requested">
          {differences.length > 0
            ? formatState(desiredState, formatObservedSize(requested, service.shards))
            : undefined}
        </Fact>
        <Fact label={differences.length > 0 ? 'Actual' : 'Size'}>
          {differences.length > 0
            ? formatState(status.state, formatObservedSize(observed, service.shards))
            : formatObservedSize(observed, service.shards)}
        </Fact>
        <Fact label="In progress">
          {inFlight && (
            <>
              Change {formatNumber(inFlight.generation)}, attempt {formatNumber(inFlight.attempt)}, started{' '}
              <Timestamp at={inFlight.since} show="ago" />
            </>
          )}
        </Fact>
        <Fact label="Observed">{evidence && listEvidence(evidence).map((line) => <div key={line}>{line}</div>)}</Fact>
      </Facts>
      {differences.length > 0 && (
        <Text size="sm" c="dimmed">
          {differences.join('. ')}.{' '}
          {service.driver === 'embedded' && requested.replicas > 1 && 'An embedded service has one replica.'}
        </Text>
      )}
    </Stack>
  );
}

const formatState = (state: string, size: string): string => (size === '' ? state : `${state}, ${size}`);
