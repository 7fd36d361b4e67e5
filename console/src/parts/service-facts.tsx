import { Badge, Group } from '@mantine/core';
import type { Service } from '../api/types.ts';
import { formatIdle, formatMemory, formatNumber } from './format.ts';
import classes from './service-facts.module.css';

/** "16–120 GB × 3". */
export function formatSize({ minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas }: Service): string {
  const memory = min === max ? formatMemory(min) : `${formatNumber(min)}–${formatMemory(max)}`;
  return `${memory} × ${formatNumber(numReplicas)}`;
}

export const formatIdleScaling = ({ idleScaling, idleTimeoutMinutes }: Service): string =>
  formatIdle(idleScaling, idleTimeoutMinutes);

const TONES: Partial<Record<Service['state'], string>> = {
  running: 'good',
  idle: 'quiet',
  stopped: 'quiet',
  failed: 'bad',
  degraded: 'bad',
};

/** `partially_running` → "Partially running". */
const formatState = (state: string): string => (state.charAt(0).toUpperCase() + state.slice(1)).replaceAll('_', ' ');

export function ServiceState({ state }: { state: Service['state'] }) {
  return (
    <span className={classes.state} data-tone={TONES[state] ?? 'busy'}>
      <span className={classes.dot} aria-hidden="true" />
      {formatState(state)}
    </span>
  );
}

/** Badges for simulated, development, read-only and primary services. */
export function ServiceBadges({ service }: { service: Service }) {
  return (
    <Group gap={6} component="span">
      {service.driver === 'simulated' && <ServiceBadge>simulated</ServiceBadge>}
      {service.tier === 'development' && <ServiceBadge>development</ServiceBadge>}
      {service.isReadonly && <ServiceBadge>read-only</ServiceBadge>}
      {service.isPrimary && service.tier !== 'development' && <ServiceBadge>primary</ServiceBadge>}
    </Group>
  );
}

const ServiceBadge = ({ children }: { children: string }) => (
  <Badge variant="default" size="sm" fw={500} tt="none" component="span" miw="max-content">
    {children}
  </Badge>
);
