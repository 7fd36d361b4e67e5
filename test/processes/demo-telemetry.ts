import { describe, expect, it } from 'vitest';
import { demo } from '../../src/operations/demo/fleet.ts';
import { type Demo, startDemo } from '../support/demo.ts';
import { withEngine } from '../support/in-process-server.ts';

const ROWS = /^demo telemetry for the last 24 hours is ready: (\d+) rows written in [\d.]+ s$/;

/** Reads the row count of the message. */
async function readRows({ telemetry }: Pick<Demo, 'telemetry'>): Promise<number> {
  const line = await telemetry;
  expect(line).toMatch(ROWS);
  return Number(ROWS.exec(line)?.[1]);
}

/** What the first start of a demo wrote to the engine in this directory, and what another start adds. The demo must be stopped. */
export function testDemoTelemetry(data: string, getFirst: () => Pick<Demo, 'telemetry'>): void {
  describe('demo telemetry', { timeout: 240_000 }, () => {
    const read = (sql: string) =>
      withEngine(data, (engine) => engine.query({ sql, parameters: { organization: demo.organizationId } }));
    const mine = 'WHERE OrganizationId = {organization:String}';

    it('covers the last 24 hours, with every kind of metric', async () => {
      expect(await readRows(getFirst())).toBeGreaterThan(150_000);
      const [hours] = await read(
        `SELECT uniqExact(toStartOfHour(Timestamp)) >= 24, uniqExact(ServiceName) FROM pilothouse.otel_logs ${mine} AND Timestamp > now() - INTERVAL 24 HOUR AND ServiceName NOT IN ('pilothouse', 'hello')`,
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
      const again = await startDemo(data);
      try {
        expect(await readRows(again)).toBeLessThan(5000);
      } finally {
        expect(await again.stop()).toBe(0);
      }
      const [[after] = []] = await countRows();
      expect(Number(after) - Number(before)).toBeLessThan(1000);
      const twice = await read(
        `SELECT count() FROM (SELECT TimeUnix, ResourceAttributes, MetricName, Attributes FROM pilothouse.otel_metrics_gauge ${mine} AND ServiceName != 'pilothouse' GROUP BY ALL HAVING count() > 1)`,
      );
      expect(twice).toEqual([[0]]);
    });
  });
}
