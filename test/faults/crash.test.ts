import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const ROUNDS = 5;

/** The changes that the server had acknowledged when it was killed. */
interface Acknowledged {
  keys: string[];
  requests: string[];
  timeouts: Record<string, { acknowledged: number; sent: number }>;
}

/** Writes without pausing until the server is gone. */
async function writeUntilKilled(server: TestServer, acknowledged: Acknowledged): Promise<void> {
  const repeatUntilKilled = async (step: (round: number) => Promise<void>) => {
    for (let round = 0; ; round++) {
      try {
        await step(round);
      } catch (error) {
        // fetch throws a TypeError if the connection is gone. Other errors fail the test.
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  const create = (writer: number) =>
    repeatUntilKilled(async (round) => {
      const { status, json } = await server.call({
        method: 'POST',
        path: `${organization}/keys`,
        key: acme.admin,
        body: { name: `writer ${writer} round ${round}` },
      });
      expect(status).toBe(200);
      acknowledged.keys.push(json.result.key.id);
      acknowledged.requests.push(json.requestId);
    });
  const rescale = (service: string) =>
    repeatUntilKilled(async () => {
      const progress = acknowledged.timeouts[service] ?? { acknowledged: 0, sent: 1000 };
      acknowledged.timeouts[service] = progress;
      progress.sent++;
      const body = { idleTimeoutMinutes: progress.sent };
      const { status, json } = await server.call({
        method: 'PATCH',
        path: `${organization}/services/${service}/scaling`,
        key: acme.admin,
        body,
      });
      expect(status).toBe(200);
      progress.acknowledged = json.result.idleTimeoutMinutes;
      acknowledged.requests.push(json.requestId);
    });
  await Promise.all([create(1), create(2), create(3), rescale(acme.primary), rescale(acme.secondary)]);
}

describe('kill -9 under writes on libSQL', () => {
  it('keeps every acknowledged change and no partial one, and restarts without repair', {
    timeout: 600_000,
  }, async () => {
    const server = await startServer('libsql', { args: ['--max-keys', '1000000'] });
    const acknowledged: Acknowledged = { keys: [], requests: [], timeouts: {} };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await server.call({ path: organization, key: acme.admin });
        const writers = writeUntilKilled(server, acknowledged);
        // Killed after a random number of changes instead of a delay: on a loaded machine, the first change may take long.
        const target = acknowledged.keys.length + 1 + Math.floor(Math.random() * 60);
        await until(
          async () => acknowledged.keys.length,
          (count) => count >= target,
          'no keys are created',
        );
        expect(await server.stop('SIGKILL')).toBe(null);
        await writers;
        await server.restart();
        expect((await server.call({ path: '/readyz' })).status).toBe(200);
        await expectStored(server, acknowledged);
      }
      expect(acknowledged.keys.length).toBeGreaterThan(ROUNDS);
    } finally {
      await server.remove();
    }
  });
});

async function expectStored(server: TestServer, { keys, requests, timeouts }: Acknowledged): Promise<void> {
  for (const [service, { acknowledged, sent }] of Object.entries(timeouts)) {
    const { json } = await server.call({ path: `${organization}/services/${service}`, key: acme.admin });
    expect(json.result.idleTimeoutMinutes).toBeGreaterThanOrEqual(acknowledged);
    expect(json.result.idleTimeoutMinutes).toBeLessThanOrEqual(sent);
  }
  const database = new Database(join(server.directory, 'data', 'state.db'), { readonly: true });
  const column = (sql: string) => database.prepare(sql).raw().all().flat() as string[];
  try {
    expect(column('PRAGMA integrity_check')).toEqual(['ok']);
    expect(column('PRAGMA foreign_key_check')).toEqual([]);
    const stored = new Set(column('SELECT id FROM api_keys'));
    expect(keys.filter((id) => !stored.has(id))).toEqual([]);
    const activities = column('SELECT document FROM activities').map((document) => JSON.parse(document));
    const audited = new Set(activities.map(({ actor }) => actor.requestId));
    expect(requests.filter((id) => !audited.has(id))).toEqual([]);
    const created = activities.filter(({ type }) => type === 'key_create').map(({ resource }) => resource.id);
    expect(new Set(created)).toEqual(stored);
  } finally {
    database.close();
  }
}
