import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openEngine } from '../open.ts';
import { listOwnTables } from './own-tables.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The days after which each table removes its rows; undefined for tables that keep them. */
async function readRetention(retentionDays: number | undefined): Promise<Record<string, number | undefined>> {
  const log = { debug() {}, info() {}, warn() {} };
  const engine = openEngine({ dataDirectory: directory, clock: systemClock, log, retentionDays });
  try {
    const found: Record<string, number | undefined> = {};
    const { tables, derived } = listOwnTables();
    for (const table of [...tables, ...derived]) {
      const [[text] = []] = await engine.query({ sql: `SHOW CREATE TABLE pilothouse.${table}`, parameters: {} });
      const days = /TTL \S+ \+ toIntervalDay\((\d+)\)/.exec(String(text))?.[1];
      found[table] = days === undefined ? undefined : Number(days);
    }
    return found;
  } finally {
    await engine.close();
  }
}

/** Tables with a retention that no setting changes. */
const OTHERS: Record<string, number> = { ingest_counts: 90, ingest_drops: 90, ingest_series: 8 };

it('the retention of telemetry changes every telemetry table and no other', { timeout: 300_000 }, async () => {
  const changed = await readRetention(7);
  for (const [table, days] of Object.entries(changed))
    expect(days, table).toBe(/^(otel|pilothouse)_/.test(table) ? 7 : OTHERS[table]);
  expect(Object.values(changed).filter((days) => days === 7)).toHaveLength(15);
  expect(await readRetention(undefined), 'a command leaves it as it is').toEqual(changed);
});
