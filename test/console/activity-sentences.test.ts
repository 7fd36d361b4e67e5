import { describe, expect, it } from 'vitest';
import { describeActivity, SENTENCES } from '../../console/src/parts/activity/activity-sentences.ts';
import { fieldLabel } from '../../console/src/parts/activity/activity-text.ts';
import { formatPercent, formatPercentChange } from '../../console/src/parts/format/format.ts';
import { ACTIVITY_TYPES } from '../../src/management/audit/activity.ts';

type Described = Parameters<typeof describeActivity>[0];
const ID = '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11';

const sentence = (type: string, part: Partial<Described> = {}, names: [string, string][] = []) => {
  const activity = { activityType: type, resourceId: ID, resourceType: 'service', ...part } as Described;
  const { action, resource = '', rest = '' } = describeActivity(activity, new Map(names));
  return [action, resource, rest].filter((text) => text !== '').join(' ');
};

describe('activities in the console', () => {
  it.each(ACTIVITY_TYPES)('%s has a sentence', (type) => {
    expect(SENTENCES).toHaveProperty(type);
    expect(sentence(type, {}, [[ID, 'the name']])).toMatch(/^([a-z]+(ed|ade|d)|left|woke) /);
    expect(sentence(type, {}, [[ID, 'the name']])).not.toContain('_');
  });

  it.each([
    ['openapi_key_update', { before: { state: 'enabled' }, after: { state: 'disabled' } }, 'disabled the key ci'],
    ['openapi_key_update', { before: { name: 'old' }, after: { name: 'ci' } }, 'renamed the key ci (before: old)'],
    [
      'openapi_key_update',
      { before: { expireAt: null }, after: { expireAt: '2030-01-01T00:00:00Z', replacedBy: 'x' } },
      'rotated the key ci',
    ],
    [
      'organization_invite_create',
      { after: { name: 'ada@example.com', roles: ['admin', 'developer'] } },
      'invited ada@example.com (admin, developer)',
    ],
    [
      'organization_member_update_roles',
      { before: { roles: ['developer'] }, after: { name: 'Ada', roles: ['admin'] } },
      'changed the roles of Ada (from developer to admin)',
    ],
    ['console_sessions_end', { before: { name: 'Ada', sessions: 2 } }, 'ended 2 sessions of Ada'],
    ['key_create', { after: { name: 'ci', replaces: 'x' } }, 'created the key ci to replace an older key'],
    [
      'service_update_autoscaling_replicas',
      { before: { numReplicas: 3 }, after: { numReplicas: 5 } },
      'changed the number of replicas of the service ci (replicas from 3 to 5)',
    ],
    [
      'service_update_autoscaling_memory',
      { before: { maxReplicaMemoryGb: 120 }, after: { maxReplicaMemoryGb: 64 } },
      'changed the memory per replica of the service ci (maximum from 120 to 64 GB)',
    ],
    [
      'service_update_autoscaling_idling',
      { before: { idleScaling: true, idleTimeoutMinutes: 5 }, after: { idleScaling: false, idleTimeoutMinutes: 9 } },
      'changed the idling of the service ci (idle timeout from 5 to 9 min, scaling to zero off)',
    ],
    [
      'budget_threshold',
      { after: { name: 'Team A', threshold: 75 } },
      'raised an alert: costs reached 75% of the budget Team A',
    ],
    [
      'budget_threshold',
      { after: { name: 'Team A', threshold: 'forecast' } },
      'raised an alert: the forecast for the month reached the budget Team A',
    ],
    [
      'usage_cost_import',
      { after: { added: 3, changed: 1, removed: 0 } },
      'imported usage costs: 3 added, 1 changed, 0 removed',
    ],
    [
      'organization_update_tier',
      { before: { tier: 'BASIC' }, after: { tier: 'SCALE' } },
      'changed the tier of the organization ci from BASIC to SCALE',
    ],
    [
      'service_idle',
      { before: { state: 'running' }, after: { state: 'idle', reason: 'No queries for 15 minutes' } },
      'idled the service ci (No queries for 15 minutes)',
    ],
    [
      'service_state_change',
      { before: { state: 'running' }, after: { state: 'degraded', reason: 'ClickHouse stopped' } },
      'reported the service ci as degraded (before: running) (ClickHouse stopped)',
    ],
    [
      'service_drift',
      { after: { since: 1, text: 'the number of replicas is 2 instead of 3' } },
      'detected a change outside Pilothouse to the service ci (the number of replicas is 2 instead of 3)',
    ],
    [
      'service_resize',
      { before: { memoryGb: 16, replicas: 3 }, after: { memoryGb: 24, replicas: 3, reason: 'Memory peaked' } },
      'resized the service ci from 3 × 16 GB to 3 × 24 GB (Memory peaked)',
    ],
    [
      'service_awaken',
      { before: { state: 'idle' }, after: { state: 'awaking', cause: 'query', statement: 'SELECT', address: '::1' } },
      'woke the service ci (SELECT from ::1)',
    ],
    [
      'service_sql',
      { after: { statement: 'SELECT ?', access: 'read' } },
      'executed a statement on the service ci (SELECT ?)',
    ],
    ['console_sign_in', {}, 'signed in to the console'],
    [
      'console_sign_in_failed',
      { after: { name: 'ci', credential: 'key', reason: 'secret not valid' } },
      'rejected a sign-in with the key ci (secret not valid)',
    ],
  ])('%s with %j reads well', (type, part, expected) => {
    expect(sentence(type, part as Partial<Described>, [[ID, 'ci']])).toBe(expected);
  });

  it('tells when a declared service was added from when it was created', () => {
    const after = { name: 'ci', createdAt: '2026-01-12T08:30:00Z' };
    expect(sentence('service_create', { createdAt: '2026-11-15T09:00:00Z', after })).toMatch(
      /^added the service ci \(created .*2026, as declared\)$/,
    );
    expect(sentence('service_create', { createdAt: '2026-01-12T08:30:00Z', after })).toBe('created the service ci');
    expect(sentence('service_create', { createdAt: '2026-01-12T08:30:00Z', after: { name: 'ci' } })).toBe(
      'created the service ci',
    );
  });

  it.each([
    ['createdAt', 'Created'],
    ['numReplicas', 'Replicas'],
    ['ipAccessList', 'IP access list'],
    ['dataWarehouseId', 'Data warehouse id'],
    ['autoscalingMode', 'Autoscaling mode'],
  ])('names the field %s "%s"', (field, label) => {
    expect(fieldLabel(field)).toBe(label);
  });

  it('shows complete dates', () => {
    expect(sentence('usage_day_lock', { after: { lockedThrough: '2026-10-31', days: 31 } })).toMatch(
      /^locked 31 usage days through .*2026/,
    );
    expect(
      sentence('price_book_create', {
        resourceId: '2',
        resourceType: 'price_book',
        after: { effectiveFrom: '2026-12-01' },
      }),
    ).toMatch(/^created the price book version 2 effective from .*2026/);
  });

  it('describes types that are newer than the console', () => {
    expect(sentence('service_trigger_failover', {}, [[ID, 'ci']])).toBe('service trigger failover ci');
  });
});

it('percentages are written in the same way, with and without a sign', () => {
  expect([formatPercent(2), formatPercent(8.94), formatPercent(0.01)]).toEqual(['2%', '8.9%', '<0.1%']);
  expect([formatPercentChange(1.5), formatPercentChange(-2), formatPercentChange(0)]).toEqual(['+1.5%', '−2%', '±0%']);
});
