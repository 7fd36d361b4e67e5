import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it, vi } from 'vitest';
import { acme } from '../../../test/support/fleet.ts';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createTestClock, createWrongClock, type TestClock } from '../../../test/support/test-clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import { createAudit } from '../../management/audit/audit.ts';
import { createOrganizations } from '../../management/organizations/organizations.ts';
import { createDrivenServices, type DrivenServices } from '../../management/services/driven-services.ts';
import type { Desired, Driver, IdleBlocker, Observed } from '../../management/services/driver.ts';
import { createServiceLifecycle } from '../../management/services/lifecycle/lifecycle.ts';
import { createServices } from '../../management/services/services.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import { createFleet } from '../../operations/fleet/fleet.ts';
import { createAttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { putLease } from '../../platform/leases/store.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createProxy } from '../proxy/proxy.ts';
import { createEndpoints } from './endpoints.ts';
import { createPorts } from './ports.ts';
import { createReconciler } from './reconciler.ts';

const ACTOR = { type: 'system', id: 'test', details: '' } as const;
const PASSWORD = 'any-password';
const OTHER_PROCESS = {
  name: 'services',
  holder: 'another process',
  host: 'another-host',
  pid: 1,
  token: 1,
  process: '',
};
const organizationId = acme.id;
/** Long enough for a machine under heavy load. */
const SETTLE_MS = 60_000;
const log = { debug() {}, info() {}, warn() {} };

/** Reaches every desired state at once, unless the test says otherwise. */
function createFakeDriver(upstream: Observed['upstream']) {
  const observed = new Map<string, Observed>();
  const fake = {
    observations: 0,
    converged: [] as Desired[],
    released: [] as string[],
    blockers: [] as IdleBlocker[],
    /** What the database says about its use. */
    use: [] as IdleBlocker[] | Error,
    failure: undefined as Error | undefined,
    /** The call waits for it. */
    observing: undefined as Promise<void> | undefined,
    converging: undefined as Promise<void> | undefined,
    lastSignal: undefined as AbortSignal | undefined,
    /** A change made outside Pilothouse. */
    change: (id: string, change: Partial<Observed>) =>
      observed.set(id, { ...(observed.get(id) as Observed), ...change }),
  };
  const driver: Driver = {
    isInterruptedByResize: false,
    canIdle: () => true,
    listBlockers: async () => fake.blockers,
    async listUse() {
      if (fake.use instanceof Error) throw fake.use;
      return fake.use;
    },
    async observe({ id }, signal) {
      fake.lastSignal = signal;
      fake.observations++;
      await fake.observing;
      return observed.get(id) ?? { state: 'provisioning' };
    },
    async converge({ id }, desired) {
      fake.converged.push(desired);
      await fake.converging;
      if (fake.failure) throw fake.failure;
      const { state, replicas, memoryGb } = desired;
      const isRunning = state === 'running';
      observed.set(id, isRunning ? { state, replicas, memoryGb, upstream, evidence: { uid: 'x' } } : { state });
    },
    async release(id) {
      fake.released.push(id);
    },
    async close() {},
  };
  return { driver, fake };
}

onEachStore('the reconciler', (store) => {
  let close: (() => unknown)[];
  let state: State;
  let upstream: Server;
  let clock: TestClock;
  let services: DrivenServices;
  let removeStore = async () => {};

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const database =
      store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    clock = createTestClock('2026-11-16T10:00:30Z');
    state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      clock: createWrongClock(clock),
      storeClock: clock,
    });
    services = createDrivenServices({ state, audit: createAudit({ db: state.db, clock }) });
    upstream = createServer((_request, response) => response.end('1\n'));
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    removeStore = async () => {
      upstream.closeAllConnections();
      upstream.close();
      await state.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterAll(() => removeStore());

  beforeEach(async () => {
    close = [];
    for (const table of ['leases', 'services', 'service_removals'] as const)
      await state.write((tx) => tx.deleteFrom(table).execute());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(async () => {
    for (const part of close) await part();
    vi.useRealTimers();
  });

  /** Declares a service and starts a reconciler for it. */
  async function start({ onDrift = 'correct' as 'correct' | 'adopt', driver: driverName = 'kubernetes' } = {}) {
    const id = newUuid();
    const audit = createAudit({ db: state.db, clock });
    const organizations = createOrganizations({ db: state.db });
    const service = {
      id,
      name: id.slice(0, 8),
      isPrimary: true,
      driver: driverName,
      password: PASSWORD,
      ...(driverName === 'kubernetes'
        ? { kubernetes: { kind: 'ClickHouseInstallation', namespace: 'db', name: 'analytics' } }
        : { webhook: { url: 'https://example.com/', secret: 'a-secret-of-16-or-more' } }),
      numReplicas: 2,
      minReplicaMemoryGb: 16,
      maxReplicaMemoryGb: 48,
      idleScaling: true,
    };
    const organization = { id: organizationId, name: 'Acme', tier: 'SCALE', paid: true, services: [service] };
    const fleet = createFleet({ state, clock, audit, organizations, alertRemoval: {} as never, log });
    await fleet.apply(parseFleetFile(JSON.stringify({ organizations: [organization] })), ACTOR);

    const { port } = upstream.address() as AddressInfo;
    const { driver, fake } = createFakeDriver({ host: '127.0.0.1', port, headers: {} });
    const proxy = createProxy({
      clock,
      log,
      host: '127.0.0.1',
      attempts: createAttemptLimit(clock),
      ignoredAgents: [],
      ignoredStatements: [],
      wake: (serviceId, cause) => reconciler.wake(serviceId, cause),
    });
    const ports = createPorts({
      state,
      getState: (serviceId) => reconciler.getState(serviceId),
      ranges: { http: { first: 0, last: 0 } },
    });
    const endpoints = createEndpoints({ proxy, host: '127.0.0.1', ports });
    const reported: string[] = [];
    const releases: string[] = [];
    const reconciler = createReconciler({
      state,
      services,
      drivers: { kubernetes: driver },
      endpoints,
      log,
      onDrift,
      directoryId: newUuid(),
      onObserved: (_service, { state: seen }) => void reported.push(seen),
      onReleased: (serviceId) => void releases.push(serviceId),
    });
    const stop = async () => {
      await endpoints.closeAll();
      await reconciler.close();
    };
    close.push(stop);
    await reconciler.start();
    const read = async () => (await services.find(organizationId, id)) ?? expect.fail('the service does not exist');
    const untilState = (wanted: string, isPolling = true) =>
      settle(
        read,
        ({ observed, settledGeneration, generation }) =>
          observed.state === wanted && (wanted === 'degraded' || settledGeneration === generation),
        isPolling,
      );
    const listTypes = async () =>
      (await audit.list(organizationId, { resourceId: id }, { limit: 100 })).activities.map(({ type }) => type);
    const lifecycle = createServiceLifecycle({ state, clock, audit, organizations });
    const { rescale } = createServices({ state, audit, organizations });
    return {
      id,
      fake,
      reconciler,
      reported,
      releases,
      read,
      untilState,
      listTypes,
      lifecycle,
      rescale,
      endpoints,
      stop,
    };
  }

  /** Time passes. Timers that end meanwhile run. */
  async function pass(ms: number): Promise<void> {
    clock.add(ms);
    await vi.advanceTimersByTimeAsync(ms);
    await turn(20);
  }

  async function turn(count = 1): Promise<void> {
    for (let turns = 0; turns < count; turns++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits without letting time pass. `isPolling`: except for the pauses in which the reconciler looks for changes. */
  async function settle<T>(
    read: () => T | Promise<T>,
    isExpected: (value: T) => boolean,
    isPolling = false,
  ): Promise<T> {
    for (const deadline = Date.now() + SETTLE_MS; ; ) {
      const value = await read();
      if (isExpected(value)) return value;
      if (Date.now() > deadline) return expect.fail(`not reached: ${JSON.stringify(value)}`);
      await turn();
      if (isPolling) await vi.advanceTimersByTimeAsync(250);
    }
  }

  it('drives a service to its desired state, and again after each change', async () => {
    const { fake, read, untilState, rescale, id, reported, listTypes } = await start();
    const running = await untilState('running');
    expect(running.observed).toMatchObject({ replicas: 2, memoryGb: 16, endpoint: { host: '127.0.0.1' } });
    expect(running.observed).not.toHaveProperty('inFlight');
    expect(fake.converged).toMatchObject([{ state: 'running', replicas: 2, memoryGb: 16, generation: 1 }]);

    await rescale(ACTOR, organizationId, id, { minReplicaMemoryGb: 32, numReplicas: 4 });
    await settle(read, ({ settledGeneration }) => settledGeneration === 2, true);
    expect(fake.converged.at(-1)).toEqual({ state: 'running', replicas: 4, memoryGb: 32, generation: 2 });
    expect((await read()).observed).toMatchObject({ state: 'running', memoryGb: 32, replicas: 4 });
    expect(reported.at(-1)).toBe('running');
    expect(await listTypes()).toContain('service_state_change');
    // Nothing is left to do: it is only observed from now on.
    await pass(MINUTE_MS);
    expect(fake.converged).toHaveLength(2);
  });

  it('tries again after 1, 2 and 4 seconds, and says why it failed', async () => {
    const { fake, read, untilState, reported } = await start();
    fake.failure = new AppError('unavailable', 'The operator does not respond');
    for (const [attempt, pauseMs] of [1000, 2000, 4000].entries()) {
      // The pause starts after that.
      await settle(
        () => reported,
        ({ length }) => length === attempt + 1,
      );
      await turn();
      expect(fake.converged).toHaveLength(attempt + 1);
      expect((await read()).observed).toMatchObject({
        state: 'degraded',
        reason: 'The operator does not respond',
        inFlight: { attempt: attempt + 1 },
      });
      await pass(pauseMs - 1);
      expect(fake.converged).toHaveLength(attempt + 1);
      await pass(1);
      await settle(
        () => fake.converged.length,
        (length) => length === attempt + 2,
      );
    }
    fake.failure = undefined;
    await pass(8 * SECOND_MS);
    const { observed } = await untilState('running');
    expect(observed).not.toHaveProperty('reason');
  });

  it('does not tell users why the driver failed in an unexpected way', async () => {
    const { fake, untilState } = await start();
    fake.failure = new Error('secret');
    expect((await untilState('degraded')).observed.reason).toBe('The driver failed; the server log has the reason');
  });

  it.each(['correct', 'adopt'] as const)('drift: %ss a size that was changed outside Pilothouse', async (onDrift) => {
    const { id, fake, reconciler, read, untilState, listTypes } = await start({ onDrift });
    const before = await untilState('running');
    fake.change(id, { memoryGb: 32 });
    await reconciler.check(id);
    const expected = onDrift === 'correct' ? 16 : 32;
    await settle(
      read,
      ({ observed, generation, settledGeneration }) =>
        observed.memoryGb === expected && !observed.drift && generation === settledGeneration,
      true,
    );
    expect((await read()).generation).toBe(before.generation + (onDrift === 'correct' ? 0 : 1));
    expect(fake.converged).toHaveLength(onDrift === 'correct' ? 2 : 1);
    expect((await read()).size).toEqual(onDrift === 'correct' ? undefined : { memoryGb: 32, replicas: 2 });
    const types = await listTypes();
    expect([types.includes('service_drift'), types.includes('service_resize')]).toEqual([
      onDrift === 'correct',
      onDrift === 'adopt',
    ]);
  });

  it.each<[string, IdleBlocker[] | Error, IdleBlocker[]]>([
    ...(['running_query', 'merge', 'mutation', 'backup', 'recent_query'] as const).map(
      (type): [string, IdleBlocker[], IdleBlocker[]] => [
        type,
        [{ type, detail: 'at the database' }],
        [{ type, detail: 'at the database' }],
      ],
    ),
    [
      'it cannot be asked',
      new AppError('unavailable', 'connect ECONNREFUSED'),
      [{ type: 'unknown', detail: 'The database could not be asked whether it is in use: connect ECONNREFUSED' }],
    ],
  ])('never stops a database in use that nothing uses here: %s', async (_, use, blockers) => {
    const { id, fake, reconciler, untilState, read } = await start();
    await untilState('running');
    // The step may still be running.
    await reconciler.check(id);
    fake.use = use;
    clock.add(15 * MINUTE_MS);
    for (let times = 0; times < 3; times++) {
      clock.add(MINUTE_MS);
      await reconciler.check(id);
      expect(reconciler.findIdleStatus(id)?.blockers).toEqual(blockers);
    }
    expect((await read()).desiredState).toBe('running');
    expect(fake.converged.map(({ state: wanted }) => wanted)).not.toContain('idle');
    fake.use = [];
    await pass(15 * SECOND_MS);
    await untilState('idle');
  });

  it('drives nothing while another service owns the resource, and says so', async () => {
    const { id, fake, untilState, rescale } = await start();
    await untilState('running');
    const setOwner = (serviceId: string) =>
      state.write((tx) => tx.updateTable('resource_owners').set({ service_id: serviceId }).execute());
    await setOwner(newUuid());
    const { length } = fake.converged;
    await rescale(ACTOR, organizationId, id, { minReplicaMemoryGb: 24 });
    expect((await untilState('degraded')).observed.reason).toContain('belongs to another service, which drives it');
    expect(fake.converged).toHaveLength(length);
    await setOwner(id);
    await pass(2000);
    expect((await untilState('running')).observed.memoryGb).toBe(24);
  });

  it('lets a service idle that nothing uses, unless it merges, and wakes it for all waiting queries', async () => {
    const { id, fake, reconciler, read, untilState, listTypes, endpoints } = await start();
    const { observed } = await untilState('running');
    // The step may still be running.
    await reconciler.check(id);
    expect(reconciler.findIdleStatus(id)).toMatchObject({
      blockers: [{ type: 'new' }],
      idleAt: clock.now() + 15 * MINUTE_MS,
    });
    fake.blockers = [{ type: 'merge', detail: 'db.t: 3 parts' }];
    clock.add(15 * MINUTE_MS);
    await reconciler.check(id);
    expect(reconciler.findIdleStatus(id)?.blockers).toEqual(fake.blockers);
    expect((await read()).desiredState).toBe('running');

    fake.blockers = [];
    await pass(15 * SECOND_MS);
    expect(await untilState('idle')).toMatchObject({ observed: { reason: 'No queries for 15 minutes' } });
    expect(fake.converged.at(-1)?.state).toBe('idle');

    const authorization = `Basic ${Buffer.from(`default:${PASSWORD}`).toString('base64')}`;
    const url = `http://127.0.0.1:${observed.endpoint?.port}/`;
    const queries = Array.from({ length: 5 }, () =>
      fetch(url, { method: 'POST', headers: { authorization }, body: 'SELECT 1' }).then((answer) => answer.text()),
    );
    const answers = Promise.all(queries);
    await settle(read, ({ desiredState, observed: { state: now } }) => desiredState === 'running' && now === 'running');
    expect(await answers).toEqual(Array(5).fill('1\n'));
    expect((await read()).observed.lastWake).toMatchObject({ cause: 'query', statement: 'SELECT' });
    expect((await listTypes()).filter((type) => type === 'service_awaken')).toHaveLength(1);
    expect(endpoints.getTraffic(id)).toMatchObject({ queries: 5, waiting: 0 });
    await reconciler.check(id);
    expect(reconciler.findIdleStatus(id)?.blockers).toMatchObject([{ type: 'recent_query' }]);
  });

  it('does not wake a stopped service, and a failed start is the error of the query', async () => {
    const { id, fake, reconciler, lifecycle, untilState } = await start();
    await untilState('running');
    const cause = {
      address: '127.0.0.1',
      userAgent: '',
      username: 'default',
      kind: 'SELECT',
      at: clock.now(),
    } as const;
    await lifecycle.command(ACTOR, organizationId, id, 'stop');
    await untilState('stopped');
    await expect(reconciler.wake(id, cause)).rejects.toMatchObject({ code: 'conflict' });
    fake.failure = new AppError('unavailable', 'No memory is left');
    await lifecycle.command(ACTOR, organizationId, id, 'start');
    await untilState('degraded');
    await expect(reconciler.wake(id, cause)).rejects.toThrow('No memory is left');
    await expect(reconciler.wake(newUuid(), cause)).rejects.toThrow('Another node manages the service');
  });

  it('releases its services when another process has the lease, and takes them back when that one has stopped', async () => {
    const { id, fake, reconciler, releases, untilState, read, endpoints } = await start();
    await untilState('running');
    expect(reconciler.isResponsible(id)).toBe(true);
    const other = { ...OTHER_PROCESS, renewedAt: clock.now() };
    await state.write((tx) => putLease(tx, other));
    // The process was suspended: it asks the store before it does anything.
    clock.add(10 * SECOND_MS);
    fake.change(id, { memoryGb: 32 });
    await state.write((tx) => putLease(tx, { ...other, renewedAt: clock.now() }));
    await reconciler.check(id);
    await settle(
      () => releases,
      ({ length }) => length === 1,
    );
    await settle(
      () => fake.released,
      ({ length }) => length === 1,
    );
    expect(reconciler.isResponsible(id)).toBe(false);
    expect(reconciler.findIdleStatus(id)).toBeUndefined();
    expect(reconciler.findSession(id)).toBeUndefined();
    expect(endpoints.getTraffic(id)).toBeUndefined();
    expect((await read()).observed.memoryGb).toBe(16);
    expect(fake.converged).toHaveLength(1);

    // Set back: the age of the lease by the clock of the store is negative for an hour.
    clock.step(-60 * MINUTE_MS);
    const letTimePass = () => {
      clock.add(250);
      return reconciler.isResponsible(id);
    };
    await settle(letTimePass, Boolean, true);
    await settle(read, ({ observed }) => observed.memoryGb === 16 && fake.converged.length === 2, true);
    clock.step(60 * MINUTE_MS);
  });

  it('stores nothing of a step during which another process has taken the lease', async () => {
    const { id, fake, untilState, rescale, read, reconciler } = await start();
    await untilState('running');
    let finish = () => {};
    fake.converging = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await rescale(ACTOR, organizationId, id, { minReplicaMemoryGb: 32 });
    void reconciler.check(id);
    await settle(
      () => fake.converged,
      ({ length }) => length === 2,
    );
    clock.add(11 * SECOND_MS);
    await state.write((tx) => putLease(tx, { ...OTHER_PROCESS, renewedAt: clock.now() }));
    finish();
    await settle(
      () => reconciler.isResponsible(id),
      (isResponsible) => !isResponsible,
    );
    expect(await read()).toMatchObject({ settledGeneration: 1, observed: { memoryGb: 16, isResizing: true } });
  });

  it('removes a deleted service with its port, and tries again if the driver fails or hangs', async () => {
    const { id, fake, lifecycle, untilState, reconciler, releases } = await start();
    await untilState('running');
    await lifecycle.command(ACTOR, organizationId, id, 'stop');
    await untilState('stopped');
    fake.failure = new AppError('unavailable', 'The operator does not respond');
    await lifecycle.remove(ACTOR, organizationId, id);
    const countDeletions = () => fake.converged.filter(({ state: wanted }) => wanted === 'deleted').length;
    await settle(countDeletions, (count) => count >= 1, true);
    expect(await services.listRemovals()).toHaveLength(1);
    expect(releases).toEqual([id]);
    expect(reconciler.isResponsible(id)).toBe(false);
    fake.failure = undefined;
    fake.converging = new Promise(() => {});
    const count = countDeletions();
    await settle(countDeletions, (next) => next > count, true);
    fake.converging = undefined;
    await pass(120 * SECOND_MS);
    await settle(services.listRemovals, ({ length }) => length === 0, true);
    expect(await state.db.selectFrom('endpoint_ports').selectAll().where('service_id', '=', id).execute()).toEqual([]);
  });

  it('gives up on a driver that hangs after 10 seconds for an observation and 120 for a change', async () => {
    const { fake, untilState, read, reconciler, id, rescale } = await start();
    await untilState('running');
    const untilReason = (reason: string) => settle(read, ({ observed }) => observed.reason === reason, true);
    fake.observing = new Promise(() => {});
    const { observations } = fake;
    void reconciler.check(id);
    await settle(
      () => fake.observations,
      (count) => count > observations,
    );
    // The next observation, which has a signal of its own, may start before the reason is read.
    const { lastSignal } = fake;
    await untilReason('The driver did not report its state within 10 seconds');
    expect(lastSignal?.aborted).toBe(true);

    fake.observing = undefined;
    fake.converging = new Promise(() => {});
    await rescale(ACTOR, organizationId, id, { minReplicaMemoryGb: 32 });
    await untilReason('The driver did not accept the change within 120 seconds');
    fake.converging = undefined;
    await untilState('running');
  });

  it('does not wait for a driver that hangs when it is closed', async () => {
    const { id, fake, reconciler, stop, untilState } = await start();
    await untilState('running');
    fake.observing = new Promise(() => {});
    const { observations } = fake;
    void reconciler.check(id);
    await settle(
      () => fake.observations,
      (count) => count > observations,
    );
    await stop();
    expect(fake.lastSignal?.aborted).toBe(true);
  });

  it('says that a driver is not installed', async () => {
    const { untilState } = await start({ driver: 'webhook' });
    const { observed } = await untilState('degraded');
    expect(observed.reason).toBe('The driver webhook is not available on this server; the server log has the reason');
  });
});
