import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listMigrations } from '../../src/kernel/migration.ts';
import { SIGNALS, type Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { type Engine, OWN_DATABASE } from '../../src/platform/engine/engine.ts';
import { acme, fleet } from '../support/fleet.ts';
import { openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { isLongRun } from '../support/long-run.ts';
import { copyProgram } from '../support/migrations.ts';
import { send, type Target } from '../support/otlp-client.ts';
import { logRecord, numberPoint, span, text, toRequest } from '../support/otlp-requests.ts';
import { spawnProgram } from '../support/process.ts';

/** Of each request. */
const RECORDS = 10_000;
/** A million rows with `npm run faults`. */
const REQUESTS_PER_SIGNAL = isLongRun ? 34 : 1;
const TABLES = {
  logs: ['otel_logs', 'LogAttributes'],
  traces: ['otel_traces', 'SpanAttributes'],
  metrics: ['otel_metrics_gauge', 'Attributes'],
} as const;

function createRequest(signal: Signal, request: number): object {
  const now = Date.now();
  const records = Array.from({ length: RECORDS }, (_, index) => {
    const attributes = [text('item', String(request * RECORDS + index))];
    if (signal === 'logs') return logRecord(now, { attributes });
    if (signal === 'traces') return span(now, { attributes, events: [], links: [] });
    return numberPoint(now, { attributes, exemplars: [] });
  });
  return toRequest(signal, signal === 'metrics' ? [{ name: 'item', gauge: { dataPoints: records } }] : records);
}

async function fill(target: Target, first: number, requests: number): Promise<void> {
  for (let request = first; request < first + requests; request++)
    for (const signal of SIGNALS) {
      const { status, json } = await send(target, signal, createRequest(signal, request));
      expect([status, json]).toEqual([200, {}]);
    }
}

/** Every item is stored once. */
async function expectItems(engine: Engine, requests: number): Promise<void> {
  const count = requests * RECORDS;
  for (const [table, attributes] of Object.values(TABLES)) {
    const item = `toUInt64(${attributes}['item'])`;
    const rows = await engine.query({
      sql: `SELECT count(), uniqExact(${item}), max(${item}) FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {id:String}`,
      parameters: { id: acme.id },
    });
    expect([table, ...rows]).toEqual([table, [count, count, count - 1]]);
  }
}

describe('an engine directory with telemetry of an older version', () => {
  it('is migrated with all of its rows', { timeout: 1_800_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-upgrade-'));
    const dataDirectory = join(directory, 'data');
    const fleetFile = join(directory, 'fleet.json');
    writeFileSync(fleetFile, JSON.stringify(fleet));
    const older = copyProgram('9999-none', '');
    // The first migration is that of the version before telemetry could be received.
    const later = readdirSync(join(older.migrations, 'engine')).filter((name) => !name.startsWith('0001'));
    for (const name of later) rmSync(join(older.migrations, 'engine', name));
    rmSync(join(older.migrations, 'state', '9999-none.sql'));
    try {
      const args = ['serve', '--port', '0', '--data', dataDirectory, '--fleet', fleetFile, '--telemetry', 'off'];
      const program = spawnProgram(args, { program: older.main });
      const { url } = JSON.parse((await program.firstLine) ?? expect.fail(program.stderr()));
      const authorization = await createIngestToken(url, acme);
      await fill({ url: `${url}/otlp`, authorization }, 0, REQUESTS_PER_SIGNAL);
      program.kill('SIGTERM');
      await program.ended;

      const server = await openInProcessServer({ dataDirectory, telemetry: 'off' });
      try {
        await expectItems(server.engine, REQUESTS_PER_SIGNAL);
        await fill({ url: `${server.url}/otlp`, authorization }, REQUESTS_PER_SIGNAL, 1);
        await expectItems(server.engine, REQUESTS_PER_SIGNAL + 1);
        const applied = await server.engine.query({
          sql: `SELECT DISTINCT name FROM ${OWN_DATABASE}.schema_migrations ORDER BY name`,
          parameters: {},
        });
        expect(applied.flat()).toEqual(listMigrations('engine').map(({ name }) => name));
      } finally {
        await server.remove();
      }
    } finally {
      older.remove();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
