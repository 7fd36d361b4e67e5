import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { Intake } from '../../src/management/billing/metering/intake.ts';
import type { Service } from '../../src/management/services/service.ts';
import { createServiceMetering } from '../../src/running/reconciliation/metering.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { createTestSession } from '../support/leases.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { type TestOrganization, useMetering } from '../support/metering.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStore, onEachStoreInLongRuns } from '../support/server.ts';

// Each store starts an engine; long runs have hundreds of rounds.
vi.setConfig({ testTimeout: isLongRun ? 3_600_000 : 600_000 });

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000];
/** Events have at most 6 decimals; what is less counts with the next event. */
const PRECISION = 0.000002;

onEachStore('the usage of services', (store) => {
  const metering = useMetering(store);

  interface NodeOptions {
    ingest?: Intake['ingest'];
    holdsLease?(): boolean;
  }

  /** The meters of one process. They run only when they are flushed. */
  function startNode({ ingest, holdsLease = () => true }: NodeOptions = {}) {
    let sentBytes = 0;
    const { state, domains } = metering;
    const session = createTestSession(state, holdsLease);
    const meters = createServiceMetering({
      state,
      intake: ingest ? { ingest } : domains.intake,
      log: { warn: (...parts: unknown[]) => void metering.warnings.push(JSON.stringify(parts)) },
      countBackupBytes: () => 0,
      countSentBytes: () => sentBytes,
      findSession: () => session,
    });
    return {
      ...meters,
      send: (bytes: number) => {
        sentBytes += bytes;
      },
      /** With 8 GB, so that a minute is one unit-minute. */
      run: ({ id, a, warehouse }: TestOrganization, memoryGb = 8, replicas = 1) =>
        meters.observed({ id: a, organizationId: id, dataWarehouseId: warehouse } as Service, {
          state: memoryGb === 0 ? 'stopped' : 'running',
          memoryGb,
          replicas,
        }),
    };
  }

  /** What was accepted, by meter and day. */
  async function sum({ id }: TestOrganization, filter = 'true') {
    const rows = await metering.engine.query({
      sql: `SELECT toFloat64(sum(Quantity)) AS quantity, toString(toDate(Time)) AS day, Meter AS meter
        FROM pilothouse.usage_events FINAL WHERE OrganizationId = {id:String} AND ${filter} GROUP BY day, meter ORDER BY day`,
      parameters: { id },
    });
    return (rows as [number, string, string][]).map(([quantity, day, meter]) => ({ quantity, day, meter }));
  }
  const countMinutes = async (organization: TestOrganization) =>
    (await sum(organization, "Meter = 'compute'")).reduce((total, { quantity }) => total + quantity, 0);

  const step = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3 * MINUTE_MS }) }),
    fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: -30 * HOUR_MS, max: 30 * HOUR_MS }) }),
    fc.record({ kind: fc.constant('flush' as const), ms: fc.constant(0) }),
    fc.record({ kind: fc.constant('observe' as const), ms: fc.constant(0) }),
  );

  /** 60,292 ms are 1.004866 minutes, whose product with a million is less than 1,004,866. */
  const ROUNDED_TWICE = [
    { kind: 'pass' as const, ms: 60_292 },
    { kind: 'flush' as const, ms: 0 as const },
    { kind: 'pass' as const, ms: 124_160 },
  ];

  it('is the time that has passed, however the clock is set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        metering.clock.set('2026-11-15T12:00:00Z');
        const organization = await metering.organization();
        const node = startNode();
        node.run(organization);
        let elapsedMs = 0;
        for (const { kind, ms } of steps) {
          if (kind === 'pass') {
            metering.clock.add(ms);
            elapsedMs += ms;
          } else if (kind === 'jump') metering.clock.step(ms);
          else if (kind === 'observe') node.run(organization);
          else {
            await node.flush();
            expect(await countMinutes(organization)).toBeLessThanOrEqual(elapsedMs / MINUTE_MS + PRECISION);
          }
        }
        // On a slow machine, a shutdown leaves the last usage to the next start.
        await node.flush();
        await node.close();
        const minutes = await countMinutes(organization);
        expect(minutes).toBeLessThanOrEqual(elapsedMs / MINUTE_MS + PRECISION);
        expect(minutes).toBeGreaterThan(elapsedMs / MINUTE_MS - PRECISION);
      }),
      { numRuns: isLongRun ? ROUNDS : 5, seed: SEED, examples: [[ROUNDED_TWICE]] },
    );
  });

  it('goes on after the clock was three hours ahead for 90 seconds', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const organization = await metering.organization();
    const node = startNode();
    node.run(organization);
    const pass = async (seconds: number) => {
      for (let at = 0; at < seconds; at += 10) {
        metering.clock.add(10 * SECOND_MS);
        await node.flush();
      }
    };
    await pass(60);
    metering.clock.step(3 * HOUR_MS);
    await pass(90);
    metering.clock.step(-3 * HOUR_MS);
    await pass(102);
    expect(await countMinutes(organization)).toBeCloseTo((60 + 90 + 110) / 60, 5);
    await node.close();
  });

  it('belongs to the day in which it was used', async () => {
    metering.clock.set('2026-11-15T23:50:00Z');
    const organization = await metering.organization();
    const node = startNode();
    node.run(organization);
    metering.clock.add(15 * MINUTE_MS);
    node.run(organization, 16);
    metering.clock.add(MINUTE_MS);
    await node.flush();
    expect(await sum(organization)).toEqual([
      { day: '2026-11-15', meter: 'compute', quantity: 10 },
      { day: '2026-11-16', meter: 'compute', quantity: 7 },
    ]);
    await node.close();
  });

  it('survives kill -9: what was stored is sent once by the next process', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const organization = await metering.organization();
    const killed = startNode({
      ingest: async () => {
        throw new Error('the engine is gone');
      },
    });
    killed.run(organization);
    killed.send(1000);
    metering.clock.add(30 * SECOND_MS);
    await killed.flush();
    metering.clock.add(10 * SECOND_MS);
    await killed.flush();
    // Not stored any more.
    metering.clock.add(9 * SECOND_MS);
    // The next process is killed after the engine has the events, before the store knows.
    const next = startNode({
      ingest: async (...batch) => {
        await metering.domains.intake.ingest(...batch);
        throw new Error('killed');
      },
    });
    next.run(organization, 0);
    await next.flush();
    const last = startNode();
    last.run(organization, 0);
    await last.flush();
    await last.flush();
    const expected = [
      { meter: 'compute', quantity: expect.closeTo(40 / 60, 5) },
      { meter: 'publicDataTransfer', quantity: 1000 },
    ];
    const read = async () => (await sum(organization)).sort((a, b) => (a.meter < b.meter ? -1 : 1));
    expect(await read()).toMatchObject(expected);
    await startNode().flush();
    expect(await read()).toMatchObject(expected);
    expect(await metering.state.db.selectFrom('usage_slices').selectAll().execute()).toEqual([]);
  });

  it('is stored at a shutdown even if the engine does not answer, and sent after the next start', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const organization = await metering.organization();
    const stopping = startNode({ ingest: () => new Promise(() => {}) });
    stopping.run(organization);
    metering.clock.add(20 * SECOND_MS);
    void stopping.flush();
    metering.clock.add(25 * SECOND_MS);
    await stopping.close();
    const next = startNode();
    next.run(organization, 0);
    await next.flush();
    expect(await countMinutes(organization)).toBeCloseTo(0.75, 5);
    await next.close();
  });

  it('is not counted twice when a suspended process finds that another one has its services', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const organization = await metering.organization();
    let isHeld = true;
    const suspended = startNode({ holdsLease: () => isHeld });
    suspended.run(organization);
    metering.clock.add(10 * SECOND_MS);
    await suspended.flush();
    isHeld = false;
    metering.clock.add(10 * SECOND_MS);
    const other = startNode();
    other.run(organization);
    metering.clock.add(MINUTE_MS);
    await suspended.flush();
    await other.flush();
    expect(await countMinutes(organization)).toBeCloseTo(70 / 60, 5);
    await Promise.all([suspended.close(), other.close()]);
  });

  it('of a deleted service does not keep the usage of others from being sent', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const organization = await metering.organization();
    const node = startNode();
    node.run(organization);
    node.observed(
      { id: organization.id, organizationId: organization.id, dataWarehouseId: organization.warehouse } as Service,
      { state: 'running', memoryGb: 8, replicas: 1 },
    );
    metering.clock.add(MINUTE_MS);
    await node.flush();
    expect(await countMinutes(organization)).toBeCloseTo(1, 5);
    expect(await metering.state.db.selectFrom('usage_slices').selectAll().execute()).toEqual([]);
    await node.close();
  });
});

onEachStoreInLongRuns('a running service whose clock is set three hours ahead and back', (store) => {
  const server = useClockedServer(store, { settings: { endpointPorts: '0', rateLimit: 'off' } });
  const services = useServices({ call: (call) => server.call(call) });

  it('does not idle, and is charged for the time that has passed', async () => {
    const { id } = await services.create();
    /** A change of the service makes the reconciler look at it. */
    const look = async () => {
      await services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'seen', value: String(server.now) }] } });
      expect(await services.untilState(id, 'running')).toMatchObject({ state: 'running' });
    };
    const readCost = async () => {
      await server.flushUsage();
      const path = `/v1/organizations/${acme.id}/usageCost?from_date=2026-11-01&to_date=2026-11-05`;
      const { costs } = (await server.call({ path, key: acme.admin })).json.result;
      return costs.find(({ entityId }: { entityId: string }) => entityId === id)?.metrics.computeCHC ?? 0;
    };
    const before = await readCost();
    const pass = async (minutes: number) => {
      server.now += minutes * MINUTE_MS;
      await look();
      return readCost();
    };
    const minute = (await pass(4)) - before;
    server.step(3 * HOUR_MS);
    await look();
    expect((await services.readIdle(id)).blockers).toMatchObject([{ type: 'new' }]);
    expect(await readCost()).toBeCloseTo(before + minute, 6);
    const ahead = await pass(4);
    expect(ahead).toBeCloseTo(before + 2 * minute, 6);
    server.step(-3 * HOUR_MS);
    await look();
    expect(await pass(4)).toBeCloseTo(before + 3 * minute, 6);
    // The timeout is 15 minutes.
    server.now += 4 * MINUTE_MS;
    await services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'seen', value: 'last' }] } });
    expect(await services.untilState(id, 'idle')).toMatchObject({ state: 'idle' });
  });
});
