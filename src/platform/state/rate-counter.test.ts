import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { openState } from './open.ts';
import { openRateCounter } from './rate-counter.ts';
import type { State } from './state.ts';

const log = { warn() {} };

describe.skipIf(inject('postgresUrl') === '')('the rate counter of PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let state: State;
  let counters: ReturnType<typeof openRateCounter>[];
  beforeAll(async () => {
    database = await createDatabase(inject('postgresUrl'));
    const secretsKeyFile = inject('secretsKeyFile');
    state = await openState({ dataDirectory: '', databaseUrl: database.url, secretsKeyFile, clock: systemClock });
    counters = [1, 2, 3].map(() => openRateCounter({ db: state.db, log }));
  });
  afterAll(async () => {
    for (const counter of counters) await counter.close();
    await state.close();
    await database.drop();
  });

  const add = (id: string, count: number, index = 0) => counters[index % 3]?.add(id, count, 60);
  const readWindow = (id: string) =>
    state.db.selectFrom('rate_windows').selectAll().where('id', '=', id).executeTakeFirst();
  const store = (id: string, ends_at: number) =>
    state.db.insertInto('rate_windows').values({ id, ends_at, taken: 7 }).execute();

  it('counts all additions of all nodes once, whatever their order', async () => {
    const additions = Array.from({ length: 300 }, (_, index) => add(`key ${index % 7}`, 2, index));
    const taken = (await Promise.all(additions)).map((counted) => counted?.taken ?? 0);
    for (let key = 0; key < 7; key++) {
      const counts = taken.filter((_, index) => index % 7 === key).sort((a, b) => a - b);
      expect(counts).toEqual(counts.map((_, index) => 2 * (index + 1)));
    }
  });

  it('a window starts with the first addition and ends after its time; the next one starts from zero', async () => {
    const first = await add('window', 5);
    expect(first).toEqual({ taken: 5, restMs: 60_000 });
    const { ends_at = 0 } = (await readWindow('window')) ?? {};
    const second = await add('window', 1);
    expect(second?.taken).toBe(6);
    expect(second?.restMs).toBeLessThanOrEqual(60_000);
    expect((await readWindow('window'))?.ends_at).toBe(ends_at);
    await store('ended', (await state.now()) - 1);
    expect(await add('ended', 3)).toEqual({ taken: 3, restMs: 60_000 });
  });

  it('a window from before the clock was set back has ended', async () => {
    await store('set back', (await state.now()) + 3_600_000);
    expect(await add('set back', 3)).toEqual({ taken: 3, restMs: 60_000 });
  });

  it('windows that ended a minute ago are deleted, by whichever node', async () => {
    const now = await state.now();
    const rows = Array.from({ length: 2500 }, (_, index) => ({ id: `old ${index}`, ends_at: now - 61_000, taken: 1 }));
    await state.db.insertInto('rate_windows').values(rows).execute();
    await store('recent', now - 1000);
    const others = [1, 2].map(() => openRateCounter({ db: state.db, log }));
    await until(
      () => state.db.selectFrom('rate_windows').select('id').where('id', 'like', 'old %').execute(),
      (found) => found.length === 0,
      'windows that have ended remain',
    );
    expect(await readWindow('recent')).toBeDefined();
    for (const other of others) await other.close();
  });

  it('the table is not written to the log of the database', async () => {
    const { rows } = await sql<{ kind: string }>`SELECT relpersistence AS kind FROM pg_class
      WHERE oid = 'rate_windows'::regclass`.execute(state.db);
    expect(rows).toEqual([{ kind: 'u' }]);
  });
});
