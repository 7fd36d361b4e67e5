import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { openState } from './open.ts';
import { preparedRows } from './prepared-rows.ts';
import type { State } from './state.ts';
import type { Tables } from './tables.ts';

const insertWindows = preparedRows<Tables['rate_windows']>(['id', 'ends_at', 'taken'], (db, rows) =>
  db.insertInto('rate_windows').values(rows),
);

onEachStore('statements that write rows', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-rows-'));
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  let state: State;
  beforeAll(async () => {
    if (store === 'postgres') database = await createDatabase(inject('postgresUrl'));
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
  });
  afterAll(async () => {
    await state.close();
    await database?.drop();
    rmSync(directory, { recursive: true });
  });

  // One more and one less than the numbers of rows for which there is a statement, and all of them together.
  it.each([0, 1, 4, 5, 6, 19, 20, 99, 100, 101, 126, 250])('write each of %i rows once', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({
      id: `${count}/${String(index).padStart(3, '0')}`,
      ends_at: index,
      taken: 2 * index,
    }));
    await state.write((tx) => insertWindows(tx, rows));
    const stored = state.db.selectFrom('rate_windows').selectAll().where('id', 'like', `${count}/%`).orderBy('id');
    expect(await stored.execute()).toEqual(rows);
  });
});
