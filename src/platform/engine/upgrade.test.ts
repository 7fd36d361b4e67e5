import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { applyMigrations } from './migrate.ts';
import { openBackend, openEngine } from './open.ts';
import { listEngineMigrations } from './own-tables.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const options = { dataDirectory: directory, clock: systemClock, log: { debug() {}, info() {}, warn() {} } };
const OWN = { ServiceName: 'pilothouse', ScopeName: 'pilothouse.http' };
const USERS = { ServiceName: 'shop', ScopeName: 'shop' };
const METRICS = ['gauge', 'sum', 'histogram', 'summary', 'exponential_histogram'];

/** An engine of the first version, with a row of users and one of the server in each table. */
async function createOldEngine(): Promise<void> {
  const backend = openBackend(options);
  try {
    const { writer } = await backend.connect();
    await applyMigrations(writer, listEngineMigrations().slice(0, 1));
    const time = `${Math.floor(systemClock.now() / 1000) - 60}.000000000`;
    const insert = (table: string, columns: object) =>
      writer.insert({
        table: `pilothouse.${table}`,
        values: [OWN, USERS].map((row) => ({ OrganizationId: 'o', ...row, ...columns })),
        format: 'JSONEachRow',
      });
    for (const table of ['otel_logs', 'otel_traces']) await insert(table, { Timestamp: time });
    for (const kind of METRICS) await insert(`otel_metrics_${kind}`, { TimeUnix: time, MetricName: 'm' });
  } finally {
    await backend.close();
  }
}

it('an engine of the first version is migrated with its rows', { timeout: 300_000 }, async () => {
  await createOldEngine();
  const engine = openEngine(options);
  try {
    const list = async (table: string) => {
      const rows = await engine.query({
        sql: `SELECT ServiceName FROM pilothouse.${table} ORDER BY 1`,
        parameters: {},
      });
      return rows.flat();
    };
    for (const table of ['logs', 'traces', 'metrics_gauge', 'metrics_sum', 'metrics_histogram']) {
      // ClickHouse removes the moved rows in the background.
      const isMoved = (names: unknown[]) => JSON.stringify(names) === '["shop"]';
      await until(() => list(`otel_${table}`), isMoved, `the rows of ${table} are not moved`);
      expect(await list(`pilothouse_${table}`), table).toEqual(['pilothouse']);
    }
    // The server never wrote to these.
    for (const table of ['otel_metrics_summary', 'otel_metrics_exponential_histogram'])
      expect(await list(table), table).toEqual(['pilothouse', 'shop']);
    const sql = 'SELECT DISTINCT name FROM pilothouse.schema_migrations ORDER BY name';
    const applied = (await engine.query({ sql, parameters: {} })).flat();
    expect(applied).toEqual(listEngineMigrations().map(({ name }) => name));
  } finally {
    await engine.close();
  }
});
