import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { startServer, type TestServer } from '../support/server.ts';

const organization = `/v1/organizations/${acme.id}`;
const ROUNDS = 5;

/** What the server said was done, by the time it was killed. */
interface Answered {
  keys: string[];
  requests: string[];
  timeouts: Record<string, { answered: number; sent: number }>;
}

/** Writers that never pause; each ends when its server is gone. */
async function writeUntilDead(server: TestServer, answered: Answered): Promise<void> {
  const untilDead = async (step: (turn: number) => Promise<void>) => {
    for (let turn = 0; ; turn++) {
      try {
        await step(turn);
      } catch (error) {
        // How fetch says that the connection is gone; a wrong answer is another kind of error and fails the test.
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  const create = (writer: number) =>
    untilDead(async (turn) => {
      const { status, json } = await server.call({
        method: 'POST',
        path: `${organization}/keys`,
        key: acme.admin,
        body: { name: `writer ${writer} turn ${turn}` },
      });
      expect(status).toBe(200);
      answered.keys.push(json.result.key.id);
      answered.requests.push(json.requestId);
    });
  const rescale = (service: string) =>
    untilDead(async () => {
      const progress = answered.timeouts[service] ?? { answered: 0, sent: 1000 };
      answered.timeouts[service] = progress;
      progress.sent++;
      const body = { idleTimeoutMinutes: progress.sent };
      const { status, json } = await server.call({
        method: 'PATCH',
        path: `${organization}/services/${service}/scaling`,
        key: acme.admin,
        body,
      });
      expect(status).toBe(200);
      progress.answered = json.result.idleTimeoutMinutes;
      answered.requests.push(json.requestId);
    });
  await Promise.all([create(1), create(2), create(3), rescale(acme.primary), rescale(acme.secondary)]);
}

describe('kill -9 under writes on libSQL', () => {
  it('keeps every answered change, nothing by halves, and starts again without repair', {
    timeout: 120_000,
  }, async () => {
    const server = await startServer('libsql', { args: ['--max-keys', '1000000'] });
    const answered: Answered = { keys: [], requests: [], timeouts: {} };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await server.call({ path: organization, key: acme.admin });
        const writers = writeUntilDead(server, answered);
        await delay(100 + Math.random() * 300);
        expect(await server.stop('SIGKILL')).toBe(null);
        await writers;
        await server.restart();
        expect((await server.call({ path: '/readyz' })).status).toBe(200);
        await expectEverything(server, answered);
      }
      expect(answered.keys.length).toBeGreaterThan(ROUNDS);
    } finally {
      await server.remove();
    }
  });
});

async function expectEverything(server: TestServer, { keys, requests, timeouts }: Answered): Promise<void> {
  for (const [service, { answered, sent }] of Object.entries(timeouts)) {
    const { json } = await server.call({ path: `${organization}/services/${service}`, key: acme.admin });
    expect(json.result.idleTimeoutMinutes).toBeGreaterThanOrEqual(answered);
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
    const trail = new Set(activities.map(({ actor }) => actor.requestId));
    expect(requests.filter((id) => !trail.has(id))).toEqual([]);
    const created = activities.filter(({ type }) => type === 'key_create').map(({ resource }) => resource.id);
    expect(new Set(created)).toEqual(stored);
  } finally {
    database.close();
  }
}
