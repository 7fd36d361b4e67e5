import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { type ApiResponse, createClient } from '../support/client.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { createDatabase, openPostgres, type Postgres } from '../support/postgres.ts';
import { countUnreadConnections } from '../support/process.ts';
import { isAlive, listChildren, sendSignal } from '../support/processes.ts';
import { onEachStoreInLongRuns, run, START_LIMIT_MS, type TestServer, useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { until, untilReady } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const usageEvents = `${organization}/usageEvents`;
const now = Math.floor(Date.now() / 60_000) * 60_000;

/** Up to four limits of 10 s, and starts of processes. */
const LIMIT = { timeout: 200_000, concurrent: false };

const createEvents = (batch: string) =>
  Array.from({ length: 50 }, (_, index) => ({
    id: `${batch}-${index}`,
    source: 'frozen',
    time: new Date(now - 3_600_000).toISOString(),
    entityType: 'service',
    entityId: acme.primary,
    meter: 'compute',
    quantity: 1,
  }));

const send = (server: Pick<TestServer, 'call'>, batch: string) =>
  server.call({ method: 'POST', path: usageEvents, key: acme.admin, body: createEvents(batch) });

const countLogs = (server: Pick<TestServer, 'call'>, where: string) =>
  server.call({
    method: 'POST',
    path: '/api/v2/charts/series',
    token: acme.token,
    body: {
      startTime: now - 3_600_000,
      endTime: now,
      series: [{ sourceId: 'logs', aggFn: 'count', where, whereLanguage: 'sql', groupBy: [] }],
    },
  });

// The tests wait for limits of 10 s, one after the other on each server; the servers do so at the same time.
describe.skipIf(!existsSync('/proc/self/task'))('dependencies that hang', { concurrent: true }, () => {
  onEachStoreInLongRuns('a frozen engine', (store) => {
    const server = useServer(store, { inProcess: false });
    const getEngine = (): number => listChildren(server.pid)[0] as number;

    it(
      'B3: fails usage and queries with 503, serves everything else, and counts usage that is sent again once',
      LIMIT,
      async () => {
        expect((await send(server, 'before')).json.result).toMatchObject({ accepted: 50, duplicates: 0 });
        const engine = getEngine();
        process.kill(engine, 'SIGSTOP');
        const pending = [send(server, 'frozen'), countLogs(server, "Body = 'frozen'")];
        expect((await server.call({ path: service, key: acme.admin })).status).toBe(200);
        expect((await server.call({ path: '/api/v2/dashboards', token: globex.token })).status).toBe(200);
        for (const response of await Promise.all(pending)) {
          expect(response.status).toBe(503);
          expect(response.text).toContain('The engine is not responding');
          expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        }
        expect(getEngine()).toBe(engine);
        process.kill(engine, 'SIGCONT');

        const again = await until(
          () => send(server, 'frozen'),
          ({ status }) => status === 200,
          'usage is not accepted again',
        );
        const { accepted, duplicates } = again.json.result;
        expect(accepted + duplicates).toBe(50);
        expect((await send(server, 'frozen')).json.result).toMatchObject({ accepted: 0, duplicates: 50 });
        const day = new Date(now - 3_600_000).toISOString().slice(0, 10);
        const readCost = async () => {
          const path = `${organization}/usageCost?from_date=${day}&to_date=${day}`;
          const { json } = await server.call({ path, key: acme.admin });
          return json.result.grandTotalCHC;
        };
        const expected = calculateCostMicros('compute', '100', '0.2985') / 1e6;
        await until(readCost, (total) => total === expected, 'the ledger does not match the events');
      },
    );

    it('does not keep the server from stopping', LIMIT, async () => {
      const engine = getEngine();
      process.kill(engine, 'SIGSTOP');
      const pending = Promise.all([send(server, 'stop'), countLogs(server, "Body = 'stop'")].map(settle));
      await until(
        async () => countUnreadConnections(engine),
        (count) => count >= 1,
        'no request reaches the engine',
      );
      expect(await server.stop('SIGTERM')).not.toBe(null);
      expect(isAlive(engine)).toBe(false);
      for (const status of await pending) expect([503, undefined]).toContain(status);
    });
  });

  describe.skipIf(inject('postgresUrl') === '')('a frozen PostgreSQL', () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-frozen-'));
    let postgres: Postgres;
    let url: string;
    let running: Awaited<ReturnType<typeof run>>;
    const call = createClient(() => running);
    const rescale = (numReplicas: number) =>
      call({ method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas } });
    const read = () => call({ path: service, key: acme.admin });

    async function start(): Promise<void> {
      const fleetFile = join(directory, 'fleet.json');
      writeFileSync(fleetFile, JSON.stringify(fleet));
      const data = join(directory, 'data');
      running = await run(['serve', '--port', '0', '--fleet', fleetFile, '--data', data, '--database-url', url]);
    }

    beforeAll(async () => {
      postgres = (await openPostgres()) ?? expect.fail('PostgreSQL is no longer available');
      ({ url } = await createDatabase(postgres.url));
      await start();
    }, START_LIMIT_MS);
    afterAll(async () => {
      postgres.resume();
      await running.stop();
      await postgres.remove();
      rmSync(directory, { recursive: true, force: true });
    });

    async function expectUnavailable(requests: readonly [string, Promise<ApiResponse>][]): Promise<void> {
      for (const [path, request] of requests) {
        const response = await request;
        expectFailure(path, response, 503);
        expect(response.text).toMatch(
          /The state store is not available: the database (is not responding|cannot be reached)/,
        );
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      expect((await call({ path: '/healthz' })).status).toBe(200);
      await untilReady({ call }, 503);
    }

    // The next test has these steps too, and takes as long.
    it.runIf(isLongRun)(
      'B3: fails requests with 503, is used again afterwards, and does not keep the server from stopping',
      LIMIT,
      async () => {
        expect((await rescale(4)).status).toBe(200);
        postgres.freeze();
        await expectUnavailable([
          [service, rescale(5)],
          [service, read()],
          [usageEvents, send({ call }, 'frozen')],
        ]);
        postgres.resume();
        await untilReady({ call }, 200);
        expect((await rescale(6)).json.result.numReplicas).toBe(6);

        postgres.freeze();
        const pending = Promise.all([rescale(7), read()].map(settle));
        // Any exit code, but not the signal: the process ends by itself.
        expect(await running.stop('SIGTERM')).not.toBe(null);
        for (const status of await pending) expect([503, undefined]).toContain(status);
        postgres.resume();
        await start();
        expect([6, 7]).toContain((await read()).json.result.numReplicas);
      },
    );

    it('B3: also together with the engine', LIMIT, async () => {
      expect((await send({ call }, 'started')).status).toBe(200);
      const [engine = 0] = listChildren(running.pid);
      const freeze = () => {
        postgres.freeze();
        sendSignal(engine, 'SIGSTOP');
      };
      freeze();
      await expectUnavailable([
        [service, rescale(8)],
        [service, read()],
        [usageEvents, send({ call }, 'both')],
        ['/api/v2/charts/series', countLogs({ call }, "Body = 'both'")],
      ]);
      postgres.resume();
      sendSignal(engine, 'SIGCONT');
      await untilReady({ call }, 200);
      expect((await rescale(9)).json.result.numReplicas).toBe(9);
      expect((await send({ call }, 'both')).json.result).toMatchObject({ accepted: 50, duplicates: 0 });
      expect((await countLogs({ call }, "Body = 'both'")).status).toBe(200);

      freeze();
      const pending = Promise.all([rescale(10), send({ call }, 'stop')].map(settle));
      expect(await running.stop('SIGTERM')).not.toBe(null);
      expect(isAlive(engine)).toBe(false);
      for (const status of await pending) expect([503, undefined]).toContain(status);
      postgres.resume();
      await start();
      expect([9, 10]).toContain((await read()).json.result.numReplicas);
      expect((await send({ call }, 'both')).json.result).toMatchObject({ accepted: 0, duplicates: 50 });
    });
  });
});

/** The status, or undefined if the connection was closed without a response. */
const settle = (request: Promise<{ status: number }>): Promise<number | undefined> =>
  request.then(
    ({ status }) => status,
    () => undefined,
  );
