import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openState } from '../open.ts';
import { prepared } from '../prepared.ts';
import type { State } from '../state.ts';
import type { Db } from '../tables.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-commits-'));
const ID = 'organization-1';

const selectName = prepared((db: Db, value: { id: string }) =>
  db.selectFrom('organizations').select('name').where('id', '=', value.id),
);

describe('a cached row', () => {
  let state: State;
  const name = () => selectName.firstCached(state.db, { id: ID }, (row) => row.name);
  const rename = (to: string) =>
    state.write(async (tx) => {
      await tx.updateTable('organizations').set({ name: to }).where('id', '=', ID).execute();
    });

  beforeAll(async () => {
    state = await openState({ dataDirectory: directory, clock: systemClock });
    const dashboards = { dashboard_revision: 1, dashboard_count: 0, dashboard_bytes: 0, counted_revision: 1 };
    const counts = { key_count: 0, cost_revision: 1, ...dashboards };
    const row = { id: ID, name: 'first', tier: 'SCALE', paid: 1, created_at: 0, ...counts };
    await state.write(async (tx) => {
      await tx.insertInto('organizations').values(row).execute();
    });
  });
  afterAll(async () => {
    await state.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is read again after a commit of this process, even in the same turn of the event loop', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const renamed = rename(`own ${turn}`);
      await name();
      await renamed;
      expect(await name()).toBe(`own ${turn}`);
    }
  });

  it('is read again in the next turn after a commit by another process', async () => {
    const other = new Database(join(directory, 'state.db'));
    const update = other.prepare('UPDATE organizations SET name = ? WHERE id = ?');
    for (let turn = 0; turn < 20; turn++) {
      await name();
      update.run(`other ${turn}`, ID);
      await setImmediate();
      expect(await name()).toBe(`other ${turn}`);
    }
    other.close();
  });
});
