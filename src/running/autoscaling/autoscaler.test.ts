import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { acme } from '../../../test/support/fleet.ts';
import { createTestSession } from '../../../test/support/leases.ts';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createWrongClock } from '../../../test/support/test-clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { createAudit } from '../../management/audit/audit.ts';
import { createOrganizations } from '../../management/organizations/organizations.ts';
import { createDrivenServices, type DrivenServices } from '../../management/services/driven-services.ts';
import type { Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { AutoscalerMode } from '../../management/services/service-settings.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import { createFleet } from '../../operations/fleet/fleet.ts';
import type { LeaseSession } from '../../platform/leases/session.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createAutoscaler } from './autoscaler.ts';
import { BYTES_PER_GB, type LoadSample } from './load.ts';
import { createLoadHistory, type LoadHistory } from './load-history.ts';
import { createLoadRecorder } from './load-recorder.ts';
import { listDecisionPage } from './store.ts';

const START = Date.parse('2026-11-16T10:00:30Z');
const OTHER = '1e9f3f3f-7c2b-4c1f-9068-3c7e4d2baf22';
const organizationId = acme.id;
const ACTOR = { type: 'system', id: 'test', details: '' } as const;

const declare = (id: string, mode: AutoscalerMode | undefined, more: object = {}) => ({
  id,
  name: id.slice(0, 8),
  isPrimary: true,
  driver: 'kubernetes',
  kubernetes: { kind: 'ClickHouseInstallation', namespace: 'db', name: `analytics-${id}` },
  numReplicas: 2,
  minReplicaMemoryGb: 16,
  maxReplicaMemoryGb: 48,
  ...(mode && { autoscaling: { mode } }),
  ...more,
});

onEachStore('the autoscaler', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let services: DrivenServices;
  let session: LeaseSession;
  let loadHistory: LoadHistory;
  let now: number;
  const clock = { now: () => now, monotonicMs: () => now };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    now = START;
    state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      clock: createWrongClock(clock),
      storeClock: clock,
    });
    services = createDrivenServices({ state, audit: createAudit({ db: state.db, clock }) });
    session = createTestSession(state);
    loadHistory = createLoadHistory({ state });
  });

  afterEach(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const log = pino({ level: 'silent' });
  const create = (isResponsible = (_: string) => true) =>
    createAutoscaler({
      state,
      services,
      organizations: createOrganizations({ db: state.db }),
      log,
      findSession: (id) => (isResponsible(id) ? session : undefined),
      lease: { getSession: () => session },
    });

  /** Declares services and lets them run. */
  async function apply(...declared: ReturnType<typeof declare>[]): Promise<void> {
    const audit = createAudit({ db: state.db, clock });
    const fleet = createFleet({
      state,
      clock,
      audit,
      organizations: createOrganizations({ db: state.db }),
      alertRemoval: {} as never,
      log,
    });
    const organization = { id: organizationId, name: 'Acme', tier: 'SCALE', paid: true, services: declared };
    await fleet.apply(parseFleetFile(JSON.stringify({ organizations: [organization] })), ACTOR);
    for (const { id } of declared)
      await services.under(session.state).observed({ organizationId, id }, () => ({
        observed: { state: 'running', since: now },
      }));
  }

  const toSample = (at: number, more: Partial<LoadSample>): LoadSample => ({
    at,
    cpuCores: 4,
    memoryBytes: 16 * BYTES_PER_GB,
    memoryGb: 16,
    replicas: 2,
    state: 'running',
    ...more,
  });
  const record = (serviceId: string, ...samples: LoadSample[]) =>
    loadHistory.recordSamples(session.state, [{ organizationId, serviceId, samples }]);
  /** The same load in each of the minutes before now. */
  const recordSteady = (serviceId: string, minutes: number, more: Partial<LoadSample>) =>
    record(serviceId, ...Array.from({ length: minutes }, (_, age) => toSample(now - age * MINUTE_MS, more)).reverse());
  const listDecisions = async (id: string) =>
    (await listDecisionPage(state.db, organizationId, id, { limit: 100, after: undefined })).items;
  const getSize = async (id: string): Promise<Service['size']> => (await services.find(organizationId, id))?.size;

  it('stores samples by minute; a second one replaces the first, and values that are no amounts are left out', async () => {
    const at = Date.parse('2026-11-16T09:59:00Z');
    await loadHistory.recordSamples(session.state, [
      {
        organizationId,
        serviceId: acme.primary,
        samples: [toSample(at, { cpuCores: 1 }), toSample(at + MINUTE_MS, { queries: 7 })],
      },
      { organizationId, serviceId: OTHER, samples: [toSample(at, { state: 'idle' })] },
      { organizationId: 'another', serviceId: acme.primary, samples: [toSample(at, {})] },
    ]);
    await record(acme.primary, toSample(at + 5000, { cpuCores: 2.00049, outOfMemory: 3 }));
    await record(acme.primary, toSample(at + 2 * MINUTE_MS, { cpuCores: Number.NaN, memoryBytes: -1 }));
    const read = (id: string, from = at, to = at + HOUR_MS) =>
      loadHistory.readHistory({ organizationId, id }, from, to);
    const { cpuCores: _, memoryBytes: __, ...unmeasured } = toSample(at + 2 * MINUTE_MS, {});
    expect(await read(acme.primary)).toEqual([
      toSample(at, { cpuCores: 2, outOfMemory: 3 }),
      toSample(at + MINUTE_MS, { queries: 7 }),
      unmeasured,
    ]);
    expect(await read(acme.primary, at + MINUTE_MS, at + 2 * MINUTE_MS)).toHaveLength(1);
    expect(await read(OTHER)).toEqual([toSample(at, { state: 'idle' })]);
    expect(await loadHistory.readHistory({ organizationId: 'another', id: acme.primary }, 0, now)).toHaveLength(1);
    expect(await loadHistory.readHistory({ organizationId: 'another', id: OTHER }, 0, now)).toEqual([]);
  });

  it('records one sample per minute: the highest load, the latest size, and the failures of the minute', async () => {
    await apply(declare(acme.primary, 'off'));
    const service = await services.find(organizationId, acme.primary);
    const recorder = createLoadRecorder({ loadHistory, clock, log, findSession: () => session });
    const observe = (load: Observed['load'], more: Partial<Observed> = {}) => {
      const observed: Observed = { state: 'running', memoryGb: 16, replicas: 2, ...(load && { load }), ...more };
      if (service) recorder.observed(service, observed, 3);
    };
    const start = Date.parse('2026-11-16T10:00:00Z');
    now = start;
    observe({ cpuCores: 2, memoryBytes: BYTES_PER_GB, outOfMemory: 5 });
    now += 10_000;
    observe({ cpuCores: 1, memoryBytes: 2 * BYTES_PER_GB, outOfMemory: 7 }, { memoryGb: 20 });
    now = start + MINUTE_MS;
    // The service was started again, and its counter too.
    observe({ cpuCores: 1, outOfMemory: 1 });
    now += MINUTE_MS;
    observe(undefined, { state: 'idle' });
    await recorder.released(acme.primary);
    const common = { memoryGb: 16, replicas: 2, state: 'running', queries: 3 };
    const common20 = { ...common, memoryGb: 20 };
    expect(await loadHistory.readHistory({ organizationId, id: acme.primary }, start, now + 1)).toEqual([
      { ...common20, at: start, cpuCores: 2, memoryBytes: 2 * BYTES_PER_GB, outOfMemory: 2 },
      { ...common, at: start + MINUTE_MS, cpuCores: 1, outOfMemory: 1 },
      { ...common, at: start + 2 * MINUTE_MS, state: 'idle' },
    ]);
    await recorder.close();
  });

  it('resizes in mode apply, one step at a time, with the cool-down of an earlier process', async () => {
    await apply(declare(acme.primary, 'apply'));
    await recordSteady(acme.primary, 5, { cpuCores: 8 });
    await create().evaluate();
    expect(await getSize(acme.primary)).toEqual({ memoryGb: 20, replicas: 2 });
    // Another process, within the cool-down of a minute.
    now += 30_000;
    const autoscaler = create();
    await autoscaler.evaluate();
    expect(await getSize(acme.primary)).toEqual({ memoryGb: 20, replicas: 2 });
    now += MINUTE_MS;
    await autoscaler.evaluate();
    expect(await getSize(acme.primary)).toEqual({ memoryGb: 28, replicas: 2 });
    expect(await listDecisions(acme.primary)).toMatchObject([
      { action: 'up', isApplied: true, from: { memoryGb: 20 }, to: { memoryGb: 28 }, at: now },
      {
        action: 'up',
        isApplied: true,
        from: { memoryGb: 16 },
        to: { memoryGb: 20 },
        inputs: { peakCpuCores: 8, cpuPercent: 100 },
      },
    ]);
    await autoscaler.close();
  });

  it('recommends by default, once while the recommendation stands, and does nothing in mode off', async () => {
    await apply(declare(acme.primary, undefined), declare(OTHER, 'off'));
    await recordSteady(acme.primary, 5, { cpuCores: 8 });
    await recordSteady(OTHER, 5, { cpuCores: 8 });
    const autoscaler = create();
    for (let pass = 0; pass < 3; pass++, now += MINUTE_MS) await autoscaler.evaluate();
    await create().evaluate();
    expect(await listDecisions(acme.primary)).toMatchObject([{ action: 'up', isApplied: false, to: { memoryGb: 20 } }]);
    expect(await listDecisions(OTHER)).toEqual([]);
    expect(await getSize(acme.primary)).toBeUndefined();
    // Four hours later the peak is out of the window; a new peak is a new recommendation.
    now += 4 * HOUR_MS;
    await recordSteady(acme.primary, 1, { cpuCores: 5 });
    await autoscaler.evaluate();
    now += MINUTE_MS;
    await recordSteady(acme.primary, 1, { cpuCores: 8 });
    await autoscaler.evaluate();
    expect(await listDecisions(acme.primary)).toHaveLength(2);
  });

  it('decides by the size that was observed: an embedded service has one replica', async () => {
    const more = { driver: 'embedded', kubernetes: undefined, numReplicas: 3 };
    await apply(declare(acme.primary, 'recommend', more));
    await services.under(session.state).observed({ organizationId, id: acme.primary }, () => ({
      observed: { state: 'running', since: now, memoryGb: 16, replicas: 1 },
    }));
    // A third of the memory of the three replicas that were asked for, and almost all of the one that runs.
    await recordSteady(acme.primary, 2, { replicas: 1, cpuCores: undefined as never, memoryBytes: 15 * BYTES_PER_GB });
    await create().evaluate();
    expect(await listDecisions(acme.primary)).toMatchObject([
      {
        action: 'up',
        from: { memoryGb: 16, replicas: 1 },
        to: { memoryGb: 20, replicas: 1 },
        inputs: { memoryPercent: 94, minReplicas: 1, maxReplicas: 1, coveredMinutes: 0 },
        reason:
          'Memory peaked at 94% in the 2 measured minutes of the last 3 hours, which is above the target, so a replica gets 20 GB instead of 16 GB.',
      },
    ]);
  });

  it('evaluates running services of its own only', async () => {
    await apply(declare(acme.primary, 'apply'), declare(OTHER, 'apply'));
    await recordSteady(acme.primary, 5, { cpuCores: 8 });
    await recordSteady(OTHER, 5, { cpuCores: 8 });
    await services.under(session.state).observed({ organizationId, id: acme.primary }, () => ({
      observed: { state: 'idle', since: now },
    }));
    await create((id) => id === acme.primary).evaluate();
    expect(await listDecisions(acme.primary)).toEqual([]);
    expect(await listDecisions(OTHER)).toEqual([]);
  });

  it('decides in horizontal mode once in ten minutes, and at once after a failure for lack of memory', async () => {
    const horizontal = { maxReplicaMemoryGb: 16, autoscalingMode: 'horizontal', maxReplicas: 6 };
    await apply(declare(acme.primary, 'apply', horizontal));
    const autoscaler = create();
    await recordSteady(acme.primary, 5, { cpuCores: 4 });
    await autoscaler.evaluate();
    now += MINUTE_MS;
    await recordSteady(acme.primary, 1, { cpuCores: 8 });
    await autoscaler.evaluate();
    expect(await listDecisions(acme.primary)).toEqual([]);
    await recordSteady(acme.primary, 1, { cpuCores: 8, outOfMemory: 1 });
    now += MINUTE_MS;
    await recordSteady(acme.primary, 1, { cpuCores: 8, outOfMemory: 1 });
    await autoscaler.evaluate();
    expect(await listDecisions(acme.primary)).toMatchObject([{ action: 'out', to: { memoryGb: 16, replicas: 3 } }]);
    now += 10 * MINUTE_MS;
    await recordSteady(acme.primary, 8, { cpuCores: 11 });
    await autoscaler.evaluate();
    expect(await getSize(acme.primary)).toEqual({ memoryGb: 16, replicas: 4 });
  });

  it('deletes load and decisions after 90 days', async () => {
    await apply(declare(acme.primary, 'recommend'));
    await recordSteady(acme.primary, 5, { cpuCores: 8 });
    const autoscaler = create();
    await autoscaler.evaluate();
    now += 90 * DAY_MS - 2 * HOUR_MS;
    await autoscaler.evaluate();
    expect(await listDecisions(acme.primary)).toHaveLength(1);
    now += 3 * HOUR_MS;
    await autoscaler.evaluate();
    expect(await listDecisions(acme.primary)).toEqual([]);
    expect(await loadHistory.readHistory({ organizationId, id: acme.primary }, 0, now)).toEqual([]);
  });
});
