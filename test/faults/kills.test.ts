import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import { openState } from '../../src/platform/state/open.ts';
import { getServerStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { openPostgres, type Postgres } from '../support/postgres.ts';
import { listChildren, sendSignal } from '../support/processes.ts';
import { getSecretsKeyFile } from '../support/secrets-key.ts';
import { type StoreName, startServer, type TestServer } from '../support/server.ts';
import { until, untilReady } from '../support/until.ts';
import {
  createUsageEvents,
  createWorkload,
  EVENT_QUANTITY,
  startWorkload,
  USAGE_DAYS,
  type Workload,
} from './kill-workload.ts';

const MAX_CHANGES_PER_ROUND = 60;
const MINUTE_MS = 60_000;

type Victim = 'server' | 'engine' | 'postgres';

describe(`kill -9 under writes, seed ${SEED}`, () => {
  it('keeps every acknowledged change on libSQL, none twice and none in part', {
    timeout: 10 * MINUTE_MS + ROUNDS * MINUTE_MS,
  }, async () => {
    await killRepeatedly('libsql', ['server', 'server', 'engine']);
  });

  it.skipIf(inject('postgresUrl') === '')(
    'keeps every acknowledged change on PostgreSQL, none twice and none in part',
    {
      timeout: 10 * MINUTE_MS + ROUNDS * MINUTE_MS,
    },
    async () => {
      const postgres = await openPostgres();
      if (!postgres) throw new Error('PostgreSQL is no longer available');
      try {
        await killRepeatedly('postgres', ['server', 'postgres', 'engine'], postgres);
      } finally {
        await postgres.remove();
      }
    },
  );
});

async function killRepeatedly(
  store: StoreName,
  victims: readonly [Victim, ...Victim[]],
  postgres?: Postgres,
): Promise<void> {
  const random = createRandom(SEED);
  const server = await startServer(store, { args: ['--max-keys', '1000000'], postgresUrl: postgres?.url });
  const workload = createWorkload();
  try {
    for (let round = 0; round < (isLongRun ? ROUNDS : 1); round++) {
      const victim = random.pick(victims);
      const running = startWorkload(server, workload);
      // After a number of changes instead of a time: on a loaded machine, the first change may take long.
      const target = workload.requests.length + random.whole(1, MAX_CHANGES_PER_ROUND);
      await until(
        async () => workload.requests.length,
        (count) => count >= target,
        `round ${round}: nothing is acknowledged`,
      );
      await kill(victim, server, postgres);
      await running.stop();
      await untilReady(server, 200);
      await expectProgress(server, workload);
    }
    await sendLastBatch(server, workload);
    await server.stop();
    await expectStored(server, workload);
    await expectLedger(server, workload);
  } finally {
    await server.remove();
  }
}

async function kill(victim: Victim, server: TestServer, postgres: Postgres | undefined): Promise<void> {
  if (victim === 'server') {
    expect(await server.stop('SIGKILL')).toBe(null);
    await server.restart();
  } else if (victim === 'engine') {
    for (const pid of listChildren(server.pid)) sendSignal(pid, 'SIGKILL');
  } else {
    await postgres?.kill();
    await postgres?.start();
  }
}

/** Values that only increase are at least as high as acknowledged, and were sent. */
async function expectProgress(server: TestServer, { timeouts, dashboard }: Workload): Promise<void> {
  for (const [service, { acknowledged, sent }] of Object.entries(timeouts)) {
    const path = `/v1/organizations/${acme.id}/services/${service}`;
    const { json } = await server.call({ path, key: acme.admin });
    expect(json.result.idleTimeoutMinutes).toBeGreaterThanOrEqual(acknowledged);
    expect(json.result.idleTimeoutMinutes).toBeLessThanOrEqual(sent);
  }
  const { json } = await server.call({ path: `/api/v2/dashboards/${acme.dashboard}`, token: acme.token });
  const stored = Number(/^board (\d+)$/.exec(json.data.name)?.[1] ?? 0);
  expect(stored).toBeGreaterThanOrEqual(dashboard.acknowledged);
  expect(stored).toBeLessThanOrEqual(dashboard.sent);
}

/** Sends the batch that the last kill interrupted. */
async function sendLastBatch(server: TestServer, workload: Workload): Promise<void> {
  await until(
    () =>
      server.call({
        method: 'POST',
        path: `/v1/organizations/${acme.id}/usageEvents`,
        key: acme.admin,
        body: createUsageEvents(workload.nextBatch),
      }),
    ({ status }) => status === 200,
    'the server does not accept usage again',
  );
}

/** Each acknowledged change is stored with its activity, and no change without one. */
async function expectStored(server: TestServer, { keys, requests }: Workload): Promise<void> {
  const state = await openState({
    dataDirectory: join(server.directory, 'data'),
    databaseUrl: server.databaseUrl,
    secretsKeyFile: getSecretsKeyFile(),
    clock: systemClock,
  });
  try {
    const stored = new Set((await state.db.selectFrom('api_keys').select('id').execute()).map(({ id }) => id));
    expect(keys.filter((id) => !stored.has(id))).toEqual([]);
    const rows = await state.db.selectFrom('activities').select('document').execute();
    const activities = rows.map(({ document }) => JSON.parse(document));
    const audited = activities.map(({ actor }) => actor.requestId).filter((id) => id !== undefined);
    expect(new Set(audited).size).toBe(audited.length);
    const auditedIds = new Set(audited);
    expect(requests.filter((id) => !auditedIds.has(id))).toEqual([]);
    const created = activities.filter(({ type }) => type === 'key_create').map(({ resource }) => resource.id);
    expect(new Set(created)).toEqual(stored);
    expect(created).toHaveLength(stored.size);
    await expectVersions(state.db, activities);
  } finally {
    await state.close();
  }
}

/** The dashboard has a version for each of its activities. */
async function expectVersions(
  db: Awaited<ReturnType<typeof openState>>['db'],
  activities: { type: string; resource: { id: string } }[],
): Promise<void> {
  const { version } = await db
    .selectFrom('dashboards')
    .select('version')
    .where('organization_id', '=', acme.id)
    .where('id', '=', acme.dashboard)
    .executeTakeFirstOrThrow();
  const changes = activities.filter(
    ({ type, resource }) => type.startsWith('dashboard_') && !type.includes('source') && resource.id === acme.dashboard,
  );
  expect(version).toBe(changes.length);
}

/** Every event is counted once: the ledger matches the engine, and the costs match what was sent. The audit log has no gap. */
async function expectLedger(server: TestServer, { nextBatch }: Workload): Promise<void> {
  const store = getServerStore(server);
  for (const command of [
    ['audit', 'verify'],
    ['usage', 'rate'],
    ['usage', 'recompute', '--check', '--json'],
  ]) {
    const { code, stdout, stderr } = await store.run(...command);
    expect(code, stderr).toBe(0);
    if (command.includes('--check'))
      expect(JSON.parse(stdout)).toMatchObject({ days: USAGE_DAYS.length, waiting: 0, differences: [] });
  }
  await server.restart();
  const sent = Array.from({ length: nextBatch + 1 }, (_, batch) => createUsageEvents(batch)).flat();
  for (const day of USAGE_DAYS) {
    const path = `/v1/organizations/${acme.id}/usageCost?from_date=${day}&to_date=${day}`;
    const { json } = await server.call({ path, key: acme.admin });
    for (const entity of [acme.primary, acme.secondary]) {
      const count = sent.filter(({ time, entityId }) => time.startsWith(day) && entityId === entity).length;
      const cost = json.result.costs.find(({ entityId }: { entityId: string }) => entityId === entity);
      const micros = calculateCostMicros('compute', String(count * EVENT_QUANTITY), '0.2985');
      expect(cost.metrics.computeCHC).toBe(micros / 1e6);
    }
  }
}
