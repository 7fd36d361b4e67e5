import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiResponse, createClient } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createDatabase, openPostgres, type Postgres } from '../support/postgres.ts';
import { run, START_LIMIT_MS } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { until, untilReady } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;

describe.skipIf(inject('postgresUrl') === '')('PostgreSQL outages', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-lost-'));
  let postgres: Postgres;
  let running: Awaited<ReturnType<typeof run>>;
  const call = createClient(() => running);
  const rescale = (numReplicas: number) =>
    call({ method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas } });

  beforeAll(async () => {
    const opened = await openPostgres();
    if (!opened) throw new Error('PostgreSQL is no longer available');
    postgres = opened;
    const { url } = await createDatabase(postgres.url);
    const fleetFile = join(directory, 'fleet.json');
    writeFileSync(fleetFile, JSON.stringify(fleet));
    running = await run([
      'serve',
      '--port',
      '0',
      '--fleet',
      fleetFile,
      '--rate-limit',
      'off',
      '--max-keys',
      '1000000',
      '--database-url',
      url,
    ]);
  }, START_LIMIT_MS);

  afterAll(async () => {
    await running?.stop();
    await postgres?.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  it('B3: every operation returns 503 during an outage and works again afterwards', {
    timeout: 600_000,
  }, async () => {
    for (let round = 0; round < 2; round++) {
      expect((await rescale(4 + round)).status).toBe(200);
      await postgres.stop();
      const responses: [string, ApiResponse][] = [
        [service, await rescale(9)],
        [service, await call({ path: service, key: acme.admin })],
        [
          `${organization}/keys`,
          await call({ method: 'POST', path: `${organization}/keys`, key: acme.admin, body: {} }),
        ],
        ['/api/v2/dashboards', await call({ path: '/api/v2/dashboards', token: acme.token })],
      ];
      for (const [path, response] of responses) {
        expectFailure(path, response, 503);
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(response.text).not.toMatch(/127\.0\.0\.1|ECONN|pilothouse@/);
      }
      const ready = await untilReady({ call }, 503);
      expect(ready.json.message).toBe('The state store is not available: the database cannot be reached');
      expect((await call({ path: '/healthz' })).status).toBe(200);
      await postgres.start();
      await untilReady({ call }, 200);
      expect((await call({ path: service, key: acme.admin })).json.result.numReplicas).toBe(4 + round);
    }
  });

  it('B3: requests in flight return 200 or 503, every 200 is durable, and the server keeps running', {
    timeout: 600_000,
  }, async () => {
    const responses: ApiResponse[] = [];
    for (let round = 0; round < 4; round++) {
      let isOver = false;
      const worker = async (number: number) => {
        for (let turn = 0; !isOver; turn++) {
          responses.push(
            await call({
              method: 'POST',
              path: `${organization}/keys`,
              key: acme.admin,
              body: { name: `${round} ${number} ${turn}` },
            }),
          );
        }
      };
      const before = responses.length;
      const workers = Promise.all(Array.from({ length: 6 }, (_, number) => worker(number)));
      const outage = async () => {
        await until(
          async () => responses.length,
          (count) => count > before + 20,
          'no requests are in flight',
        );
        await postgres.stop();
        await postgres.start();
        await untilReady({ call }, 200);
        isOver = true;
      };
      await Promise.all([workers, outage()]);
    }
    const statuses = new Set(responses.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 503]);
    const stored = new Set(
      (await call({ path: `${organization}/keys`, key: acme.admin })).json.result.map(({ id }: { id: string }) => id),
    );
    for (const { status, json } of responses) if (status === 200) expect(stored).toContain(json.result.key.id);
  });
});
