import { Anchor, Badge, Box, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Service } from '../../api/types.ts';
import { formatIdle, formatMemory, formatNumber } from '../format/format.ts';
import classes from './service-facts.module.css';
import { formatSets, getState, listDifferences } from './service-status.ts';

/** "16–120 GB × 3", with shards "3 shards × 2 replicas × 16–120 GB". */
export function formatSize(service: Service): string {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas, shards = 1 } = service;
  const memory = min === max ? formatMemory(min) : `${formatNumber(min)}–${formatMemory(max)}`;
  return shards > 1 ? `${formatSets(numReplicas, shards)} × ${memory}` : `${memory} × ${formatNumber(numReplicas)}`;
}

export const formatIdleScaling = ({ idleScaling, idleTimeoutMinutes }: Service): string =>
  formatIdle(idleScaling, idleTimeoutMinutes);

const TONES: Readonly<Record<string, string>> = {
  running: 'good',
  idle: 'quiet',
  stopped: 'quiet',
  failed: 'bad',
  degraded: 'bad',
};

/** `partially_running` → "Partially running". */
const formatState = (state: string): string => (state.charAt(0).toUpperCase() + state.slice(1)).replaceAll('_', ' ');

/** A simulated service has no process, so its state is never shown as that of a database. */
export function ServiceState({ service }: { service: Pick<Service, 'state' | 'status' | 'driver'> }) {
  const state = getState(service);
  const isSimulated = service.driver === 'simulated';
  return (
    <span className={classes.state} data-tone={isSimulated ? 'simulated' : (TONES[state] ?? 'busy')}>
      <span className={classes.dot} aria-hidden="true" />
      {isSimulated ? `Simulated · ${formatState(state).toLowerCase()}` : formatState(state)}
    </span>
  );
}

/** The state, and what is wrong with it: the reason for a degraded service, else a size other than the requested one. */
export function ServiceStateCell({ service }: { service: Service }) {
  const note = findStateNote(service);
  return (
    <>
      <ServiceState service={service} />
      {note && (
        <Text size="xs" c="dimmed" className={classes.note} title={note}>
          {note}
        </Text>
      )}
    </>
  );
}

function findStateNote({ status }: Service): string | undefined {
  if (!status) return undefined;
  if (status.state === 'degraded' && status.reason) return status.reason;
  return status.drift ? `Changed outside Pilothouse: ${status.drift.text}` : listDifferences(status)[0];
}

/** Badges for the driver, and for development, read-only and primary services. */
export function ServiceBadges({ service }: { service: Service }) {
  return (
    <Group gap={6} component="span">
      <ServiceBadge>{service.driver}</ServiceBadge>
      {service.tier === 'development' && <ServiceBadge>development</ServiceBadge>}
      {service.isReadonly && <ServiceBadge>read-only</ServiceBadge>}
      {service.isPrimary && service.tier !== 'development' && <ServiceBadge>primary</ServiceBadge>}
    </Group>
  );
}

/** The name with badges, and the state where a table has no column for it. */
export const ServiceName = ({ service }: { service: Service }) => (
  <div className={classes.name}>
    <Anchor
      fw={600}
      size="sm"
      renderRoot={(props) => <Link to="/services/$id" params={{ id: service.id }} {...props} />}
    >
      {service.name}
    </Anchor>
    <ServiceBadges service={service} />
    <Box component="span" hiddenFrom="sm">
      <ServiceState service={service} />
    </Box>
  </div>
);

const ServiceBadge = ({ children }: { children: string }) => (
  <Badge variant="default" size="sm" fw={500} tt="none" component="span" miw="max-content">
    {children}
  </Badge>
);
