import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openState } from '../open.ts';
import type { State } from '../state.ts';

const PAGE_BYTES = 4096;
const ROW_BYTES = 3000;

describe('the write-ahead log', () => {
  let directory: string;
  let state: State;
  const size = (suffix = '') => statSync(join(directory, `state.db${suffix}`)).size / PAGE_BYTES;

  /** Each row fills a page. */
  const writePages = (first: number, count: number) =>
    state.write(async (tx) => {
      for (let i = first; i < first + count; i++) {
        const row = { version: i, effective_from: '2026-01-01', created_at: 0, document: 'x'.repeat(ROW_BYTES) };
        await tx.insertInto('price_books').values(row).execute();
      }
    });

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
    state = await openState({ dataDirectory: directory, clock: systemClock });
  });
  afterEach(async () => {
    await state.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is copied into the database file in the background after 500 changes', async () => {
    await Promise.all(Array.from({ length: 550 }, (_, change) => writePages(1 + change * 2, 2)));
    await vi.waitFor(() => expect(size()).toBeGreaterThan(1000), 10_000);
    expect(await state.db.selectFrom('price_books').select('version').execute()).toHaveLength(1100);
  });

  it('restarts under continuous writes without losing a change', async () => {
    for (let turn = 0; turn < 100; turn++) await writePages(1 + turn * 200, 200);
    expect(size('-wal')).toBeLessThan(10_000);
    await state.close();
    state = await openState({ dataDirectory: directory, clock: systemClock });
    const { count } = await state.db
      .selectFrom('price_books')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(count).toBe(20_000);
  });
});
