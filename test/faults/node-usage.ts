import { expect } from 'vitest';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { createTestStore } from '../support/cli.ts';
import { type ApiResponse, type Call, type Credentials, createClient } from '../support/client.ts';
import type { TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

/** Usage of one request. */
export interface UsageBatch {
  organization: { id: string; admin: Credentials };
  events: ReturnType<typeof createEvent>[];
}

export const toDay = (age: number): string => new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10);

export const createEvent = (batch: string, day: string, entityId: string) => ({
  id: `${batch} ${day} ${entityId}`,
  source: 'nodes',
  time: `${day}T10:00:00Z`,
  entityType: 'service',
  entityId,
  meter: 'compute',
  quantity: QUANTITY,
});

/** A client of the node with this ready line. */
export function connect(readyLine: string): (call: Call) => Promise<ApiResponse> {
  const target = JSON.parse(readyLine);
  return createClient(() => target);
}

export const sendUsage = (
  { call }: { call(call: Call): Promise<ApiResponse> },
  { organization, events }: UsageBatch,
): Promise<ApiResponse> =>
  call({
    method: 'POST',
    path: `/v1/organizations/${organization.id}/usageEvents`,
    key: organization.admin,
    body: events,
  });

/** Costs of this quantity are rounded. */
const QUANTITY = 0.7;
const QUIET_MS = 2 * 3_600_000;

/** Days that were rated within the last hour are not locked. */
export async function passTime(server: TestServer): Promise<void> {
  await runSql(server, `UPDATE usage_days SET rated_at = rated_at - ${QUIET_MS} WHERE rated_at > ${QUIET_MS}`);
}

/** The last day of each change that locked days, in the order of the changes. */
export async function listLockedThrough(server: TestServer, organizationId: string): Promise<string[]> {
  const rows = await runSql(
    server,
    `SELECT document FROM activities WHERE organization_id = '${organizationId}' ORDER BY sequence`,
  );
  return rows
    .map(({ document }) => JSON.parse(String(document)))
    .flatMap(({ type, resource }) => (type === 'usage_day_lock' ? [resource.id] : []));
}

/** Waits until a node has rated the days. */
export async function untilRated(server: TestServer, days: readonly string[]): Promise<void> {
  const list = days.map((day) => `'${day}'`).join(', ');
  await until(
    () => runSql(server, `SELECT date FROM usage_days WHERE revision > rated_revision AND date IN (${list})`),
    (waiting) => waiting.length === 0,
    'days are not rated',
  );
}

async function runCommand({ store, directory, databaseUrl }: TestServer, ...command: string[]): Promise<void> {
  const { run } = createTestStore(directory, databaseUrl, { inProcess: store === 'postgres' });
  const { code, stdout, stderr } = await run(...command);
  expect(code, stdout + stderr).toBe(0);
}

/** Now, not with the next pass of a node. */
export const rateUsage = (server: TestServer): Promise<void> => runCommand(server, 'usage', 'rate', ...server.args);

/** The ledger is the exact cost of what was sent, and each event is counted once. Everything must be rated. */
export async function expectExactLedger(server: TestServer, batches: readonly UsageBatch[]): Promise<void> {
  const rows = await runSql(
    server,
    'SELECT organization_id, usage_date, entity_id, sum(micros) AS micros FROM usage_ledger GROUP BY organization_id, usage_date, entity_id',
  );
  const booked = rows.map((row) => [`${row.organization_id} ${row.usage_date} ${row.entity_id}`, Number(row.micros)]);
  expect(Object.fromEntries(booked)).toEqual(Object.fromEntries(calculateCosts(batches)));
  await runCommand(server, 'usage', 'recompute', '--check', ...server.args);
  await runCommand(server, 'audit', 'verify');
}

function calculateCosts(batches: readonly UsageBatch[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { organization, events } of batches)
    for (const { time, entityId } of events) {
      const key = `${organization.id} ${time.slice(0, 10)} ${entityId}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  return [...counts].map(([key, count]) => {
    const quantity = (count * QUANTITY).toFixed(1);
    return [key, calculateCostMicros('compute', quantity, '0.2985')];
  });
}
