import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { demo } from '../../src/demo/fleet.ts';
import { startDemo } from '../support/demo.ts';
import { withEngine } from '../support/in-process-server.ts';
import { PROGRAM } from '../support/server.ts';

// Takes a few seconds, and many times longer on a loaded machine.
vi.setConfig({ testTimeout: 240_000 });

const ROWS = /^demo telemetry for the last 24 hours is ready: (\d+) rows written in [\d.]+ s$/;

describe('demo telemetry', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
  const data = join(directory, 'data');
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const written = async () => {
    const running = await startDemo(data);
    try {
      const line = await running.telemetry;
      expect(line).toMatch(ROWS);
      return Number(ROWS.exec(line)?.[1]);
    } finally {
      expect(await running.stop()).toBe(0);
    }
  };

  const read = (sql: string) =>
    withEngine(data, (engine) => engine.query({ sql, parameters: { organization: demo.organizationId } }));
  const mine = 'WHERE OrganizationId = {organization:String}';

  it('covers the last 24 hours, with every kind of metric', async () => {
    expect(await written()).toBeGreaterThan(150_000);
    const [hours] = await read(
      `SELECT uniqExact(toStartOfHour(Timestamp)) >= 24, uniqExact(ServiceName) FROM pilothouse.otel_logs ${mine} AND Timestamp > now() - INTERVAL 24 HOUR AND ServiceName != 'pilothouse'`,
    );
    expect(hours).toEqual([1, 5]);
    for (const kind of ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary']) {
      const [[count] = []] = await read(`SELECT count() FROM pilothouse.otel_metrics_${kind} ${mine}`);
      expect(count).toBeGreaterThan(5000);
    }
    const orphans = await read(
      `SELECT countIf(ParentSpanId != '' AND ParentSpanId NOT IN (SELECT SpanId FROM pilothouse.otel_traces ${mine})) FROM pilothouse.otel_traces ${mine}`,
    );
    expect(orphans).toEqual([[0]]);
  });

  it('is extended by the next start, not loaded again', async () => {
    const countRows = () =>
      read(`SELECT count() FROM pilothouse.otel_metrics_gauge ${mine} AND ServiceName != 'pilothouse'`);
    const [[before] = []] = await countRows();
    expect(await written()).toBeLessThan(5000);
    const [[after] = []] = await countRows();
    expect(Number(after) - Number(before)).toBeLessThan(1000);
    const twice = await read(
      `SELECT count() FROM (SELECT TimeUnix, ResourceAttributes, MetricName, Attributes FROM pilothouse.otel_metrics_gauge ${mine} AND ServiceName != 'pilothouse' GROUP BY ALL HAVING count() > 1)`,
    );
    expect(twice).toEqual([[0]]);
  });

  it('prints one line if the engine is not installed, and the rest works', async () => {
    const program = join(directory, 'elsewhere', 'dist', 'main.js');
    const root = dirname(dirname(PROGRAM));
    mkdirSync(join(directory, 'elsewhere', 'node_modules'), { recursive: true });
    for (const part of ['dist', 'migrations', 'package.json'])
      cpSync(join(root, part), join(directory, 'elsewhere', part), { recursive: true });
    const packages = [
      '@clickhouse',
      '@fastify',
      'commander',
      'fastify',
      'ipaddr.js',
      'libsql',
      'lru-cache',
      'pg',
      'pino',
      'prom-client',
      'yaml',
    ];
    for (const name of packages)
      symlinkSync(join(root, 'node_modules', name), join(directory, 'elsewhere', 'node_modules', name));
    const running = await startDemo(join(directory, 'without'), program);
    try {
      expect(await running.telemetry).toMatch(/^demo telemetry is not available: .*is not installed; run npm install/);
      expect(running.welcome).toContain('Pilothouse is running.');
    } finally {
      expect(await running.stop()).toBe(0);
    }
  });
});
