import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { listMigrations } from '../../src/kernel/migration.ts';
import { SIGNALS } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { OWN_DATABASE } from '../../src/platform/engine/engine.ts';
import { applyMigrations } from '../../src/platform/engine/tables/migrate.ts';
import { getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import { acme } from '../support/fleet.ts';
import { openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { isLongRun } from '../support/long-run.ts';
import { send } from '../support/otlp-client.ts';
import { createFullRequest } from '../support/otlp-requests.ts';

/** Of each table: a million in all with `npm run faults`. */
const ROWS = isLongRun ? 340_000 : 20_000;
const ROWS_PER_INSERT = 20_000;
const TABLES = {
  otel_logs: ['Timestamp', 'LogAttributes', 'ServiceName, Body', "'old', concat('body ', toString(number))"],
  otel_traces: [
    'Timestamp',
    'SpanAttributes',
    'ServiceName, SpanName',
    "'old', concat('span ', toString(number % 100))",
  ],
  otel_metrics_gauge: ['TimeUnix', 'Attributes', 'ServiceName, MetricName, Value', "'old', 'metric', number / 4"],
} as const;

/** An engine directory as the version before telemetry could be received left it. */
async function createOldDirectory(directory: string): Promise<void> {
  const server = await startClickHouseServer(directory);
  const client = createClient({ url: getWriterUrl(server) });
  try {
    await applyMigrations({ writer: client }, listMigrations('engine').slice(0, 1));
    for (const [table, [time, attributes, columns, values]] of Object.entries(TABLES))
      for (let first = 0; first < ROWS; first += ROWS_PER_INSERT)
        await client.command({
          query: `INSERT INTO ${OWN_DATABASE}.${table} (OrganizationId, ${time}, ${attributes}, ${columns})
            SELECT '${acme.id}', now64(9) - toIntervalSecond(number % 1000000), map('item', toString(number)), ${values}
            FROM numbers(${first}, ${ROWS_PER_INSERT})`,
        });
  } finally {
    await client.close();
    await server.close();
  }
}

describe('an engine directory with telemetry of an older version', () => {
  it('is migrated with all of its rows, and receives telemetry', { timeout: 900_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-upgrade-'));
    const dataDirectory = join(directory, 'data');
    try {
      await createOldDirectory(join(dataDirectory, 'engine'));
      const server = await openInProcessServer({ dataDirectory, telemetry: 'off' });
      try {
        const target = { url: `${server.url}/otlp`, authorization: await createIngestToken(server.url, acme) };
        for (const signal of SIGNALS)
          expect((await send(target, signal, createFullRequest(signal, Date.now()))).json).toEqual({});
        for (const [table, [, attributes]] of Object.entries(TABLES)) {
          const item = `toUInt64OrZero(${attributes}['item'])`;
          const [old] = await server.engine.query({
            sql: `SELECT count(), uniqExact(${item}), max(${item}) FROM ${OWN_DATABASE}.${table} WHERE ServiceName = 'old'`,
            parameters: {},
          });
          expect([table, old]).toEqual([table, [ROWS, ROWS, ROWS - 1]]);
          const [received] = await server.engine.query({
            sql: `SELECT count() FROM ${OWN_DATABASE}.${table} WHERE ServiceName = 'checkout'`,
            parameters: {},
          });
          expect([table, received]).toEqual([table, [table === 'otel_metrics_gauge' ? 2 : 1]]);
        }
        const applied = await server.engine.query({
          sql: `SELECT DISTINCT name FROM ${OWN_DATABASE}.schema_migrations ORDER BY name`,
          parameters: {},
        });
        expect(applied.flat()).toEqual(listMigrations('engine').map(({ name }) => name));
      } finally {
        await server.remove();
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
