import { describe, expect, it } from 'vitest';
import { calculateCostMicros } from '../../src/billing/prices/cost-micros.ts';
import { getServerStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const ROUNDS = 4;
const DAYS = ['2026-11-09', '2026-11-10', '2026-11-11'];
const path = `/v1/organizations/${acme.id}/usageEvents`;

const createEvents = (batch: number) =>
  Array.from({ length: 200 }, (_, index) => ({
    id: `${batch}-${index}`,
    source: 'crash',
    time: `${DAYS[(batch + index) % DAYS.length]}T10:00:00Z`,
    entityType: 'service',
    entityId: index % 2 ? acme.primary : acme.secondary,
    meter: 'compute',
    quantity: 1.25,
  }));

/** Sends batches until the server is gone. A batch without a response is sent again in the next round. */
async function sendUntilKilled(server: TestServer, progress: { next: number }): Promise<void> {
  for (;;) {
    const text = createEvents(progress.next)
      .map((event) => JSON.stringify(event))
      .join('\n');
    try {
      const headers = { 'content-type': 'application/x-ndjson' };
      const { status, json } = await server.call({ method: 'POST', path, key: acme.admin, text, headers });
      // The engine of the killed server may need a moment to release its directory.
      expect([200, 503]).toContain(status);
      if (status === 503) continue;
      expect(json.result.accepted + json.result.duplicates).toBe(200);
      progress.next++;
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

describe('kill -9 while usage arrives', () => {
  it('counts every acknowledged event exactly once, and the ledger matches the events', {
    timeout: 900_000,
  }, async () => {
    const server = await startServer('libsql');
    const progress = { next: 0 };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const before = progress.next;
        const sender = sendUntilKilled(server, progress);
        await until(
          async () => progress.next,
          (next) => next > before + Math.floor(Math.random() * 5),
          'no usage is accepted',
        );
        await server.stop('SIGKILL');
        await sender;
        await server.restart();
      }
      // The batch that was interrupted by the last crash is sent again.
      const rest = createEvents(progress.next);
      await until(
        () => server.call({ method: 'POST', path, key: acme.admin, body: rest }),
        ({ status }) => status === 200,
        'the server does not accept usage again',
      );
      await server.stop();

      const store = getServerStore(server);
      for (const command of [
        ['usage', 'rate'],
        ['usage', 'recompute', '--check', '--json'],
      ]) {
        const { code, stdout, stderr } = await store.run(...command);
        expect(code, stderr).toBe(0);
        if (command.includes('--check'))
          expect(JSON.parse(stdout)).toMatchObject({ days: 3, waiting: 0, differences: [] });
      }
      await server.restart();
      const sent = Array.from({ length: progress.next + 1 }, (_, batch) => createEvents(batch)).flat();
      expect(sent.length).toBeGreaterThan(ROUNDS * 200);
      for (const day of DAYS)
        for (const entity of [acme.primary, acme.secondary]) {
          const query = `from_date=${day}&to_date=${day}`;
          const { json } = await server.call({
            path: `/v1/organizations/${acme.id}/usageCost?${query}`,
            key: acme.admin,
          });
          const count = sent.filter(({ time, entityId }) => time.startsWith(day) && entityId === entity).length;
          const cost = json.result.costs.find((one: { entityId: string }) => one.entityId === entity);
          expect(cost.metrics.computeCHC).toBe(calculateCostMicros('compute', String(count * 1.25), '0.2985') / 1e6);
        }
    } finally {
      await server.remove();
    }
  });
});
