import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { startSecondServer } from '../support/second-server.ts';
import { START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';

const LIMIT = 100;
const AT_A_TIME = 30;
const args = ['--rate-limit', `${LIMIT}/600s`, '--trust-proxy', '127.0.0.1'];

describe.skipIf(inject('postgresUrl') === '')('three nodes on one PostgreSQL', () => {
  let first: TestServer;
  let nodes: Pick<TestServer, 'call' | 'stop'>[] = [];
  beforeAll(async () => {
    first = await startServer('postgres', { sharedEngine: true, inProcess: !isLongRun, args });
    nodes = [first, ...(await Promise.all([startSecondServer(first), startSecondServer(first)]))];
  }, START_LIMIT_MS);
  afterAll(async () => {
    for (const node of nodes.slice(1)) await node.stop();
    await first.remove();
  });

  /** Sends requests to all nodes in turn, some at a time, and counts the responses by status. */
  async function send(count: number, createCall: (index: number) => Call): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (let from = 0; from < count; from += AT_A_TIME) {
      const batch = Array.from({ length: AT_A_TIME }, (_, index) =>
        nodes[index % nodes.length]?.call(createCall(from + index)),
      );
      for (const response of await Promise.all(batch)) {
        const status = response?.status ?? 0;
        counts[status] = (counts[status] ?? 0) + 1;
      }
    }
    return counts;
  }

  it('B7: admit the limit of a key between them', async () => {
    const counts = await send(3 * LIMIT, () => ({ path: '/v1/organizations', key: acme.admin }));
    expect(Object.keys(counts)).toEqual(['200', '429']);
    expect(counts[200]).toBeGreaterThanOrEqual(0.9 * LIMIT);
    expect(counts[200]).toBeLessThanOrEqual(LIMIT);
  });

  it('B7: admit 300 failed attempts of an address between them', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const guess = (index: number): Call => ({ path: '/api/v2/dashboards', token: `guess-${index}`, headers });
    const counts = await send(450, guess);
    expect(Object.keys(counts)).toEqual(['401', '429']);
    expect(counts[401]).toBeGreaterThanOrEqual(270);
    expect(counts[401]).toBeLessThanOrEqual(300);
    for (const node of nodes)
      expect((await node.call({ path: '/v1/organizations', key: globex.admin, headers })).status).toBe(429);
  });
});
