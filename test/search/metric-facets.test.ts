import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { createSearchClient, T0 } from '../support/search.ts';

const HOUR_MS = 3_600_000;
const TABLES = ['gauge', 'sum', 'histogram', 'summary', 'exponential_histogram'] as const;

interface Point {
  table: (typeof TABLES)[number];
  ms: number;
  metric: string;
  service: string;
  host: string;
}

/** Points of three hours in all tables, which have some metrics and services in common. */
const POINTS: Point[] = Array.from({ length: 300 }, (_, index) => ({
  table: TABLES[index % TABLES.length] ?? 'gauge',
  ms: T0 + index * 36_000,
  metric: index % 3 === 0 ? 'requests' : `metric.${index % TABLES.length}`,
  service: index % 7 === 0 ? 'billing' : 'checkout',
  host: index % 11 === 0 ? '' : `h${index % 4}`,
}));

const toRow = (organizationId: string, { ms, metric, service, host }: Omit<Point, 'table'>) => ({
  OrganizationId: organizationId,
  TimeUnix: new Date(ms).toISOString(),
  MetricName: metric,
  ServiceName: service,
  Attributes: { "it's": 'quoted' },
  ResourceAttributes: host === '' ? {} : { 'host.name': host },
});

/** The counts of the values, by the points themselves. */
function count(points: Point[], value: (point: Point) => string): Json {
  const counts: Record<string, number> = {};
  for (const point of points) if (value(point) !== '') counts[value(point)] = (counts[value(point)] ?? 0) + 1;
  return counts;
}

describe('facets of metrics', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  const span = (from = T0, to = T0 + 3 * HOUR_MS) => ({
    sourceId: 'metrics',
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
  });
  const toCounts = ({ values }: Json) =>
    Object.fromEntries(values.map(({ value, count: rows }: Json) => [value, rows]));
  const readValues = async (body: object, token = acme.token) => {
    const { status, json } = await post('search/facets/values', { ...span(), ...body }, token);
    expect(status, JSON.stringify(json)).toBe(200);
    return json.data;
  };

  beforeAll(async () => {
    const { engine } = ingest.server;
    for (const table of TABLES) {
      const points = POINTS.filter((point) => point.table === table);
      await engine.insert(`otel_metrics_${table}`, [
        ...points.map((point) => toRow(acme.id, point)),
        toRow(globex.id, { ms: T0, metric: 'secret', service: 'secret', host: 'secret' }),
      ]);
    }
  });

  it('lists each column and attribute once, and none of other organizations', async () => {
    await ingest.server.engine.insert('otel_metrics_sum', [
      {
        ...toRow(globex.id, { ms: T0, metric: 'secret', service: 'secret', host: '' }),
        ResourceAttributes: { theirs: '1' },
      },
    ]);
    const { status, json } = await post('search/facets', span());
    expect(status, JSON.stringify(json)).toBe(200);
    const fields: string[] = json.data.map(({ field }: Json) => field);
    expect(fields).toEqual(expect.arrayContaining(['MetricName', 'ServiceName', "ResourceAttributes['host.name']"]));
    expect(fields).toContain("Attributes['it\\'s']");
    expect(new Set(fields).size).toBe(fields.length);
    expect(fields.join()).not.toContain('theirs');
  });

  it('counts the points of all types, in any range', async () => {
    const ranges = [
      [T0, T0 + 3 * HOUR_MS],
      [T0 + 1_234_567, T0 + 2 * HOUR_MS + 42],
      [T0 - 5 * HOUR_MS, T0],
    ] as const;
    const fields = ['MetricName', 'ServiceName', "ResourceAttributes['host.name']", "Attributes['it\\'s']"];
    for (const [from, to] of ranges) {
      const points = POINTS.filter(({ ms }) => ms >= from && ms < to);
      const [metrics, services, hosts, quoted] = await readValues({ ...span(from, to), fields });
      expect(toCounts(metrics)).toEqual(count(points, ({ metric }) => metric));
      expect(toCounts(services)).toEqual(count(points, ({ service }) => service));
      expect(toCounts(hosts)).toEqual(count(points, ({ host }) => host));
      expect(toCounts(quoted)).toEqual(count(points, () => 'quoted'));
      expect(metrics).toMatchObject({ isExact: true, others: 0 });
    }
  });

  it('counts the points that match, of one type or of all', async () => {
    const [hosts] = await readValues({ where: 'MetricName:"requests"', fields: ["ResourceAttributes['host.name']"] });
    const requests = POINTS.filter(({ metric }) => metric === 'requests');
    expect(toCounts(hosts)).toEqual(count(requests, ({ host }) => host));
    const filters = [{ type: 'sql', condition: "ServiceName = 'billing'" }];
    const [metrics] = await readValues({ metricDataType: 'exponential histogram', filters, fields: ['MetricName'] });
    const ofType = POINTS.filter(({ table, service }) => table === 'exponential_histogram' && service === 'billing');
    expect(toCounts(metrics)).toEqual(count(ofType, ({ metric }) => metric));
  });

  it('a column that not all types have needs the type', async () => {
    const body = { ...span(), fields: ['AggregationTemporality'] };
    const { status, text } = await post('search/facets/values', body);
    expect(status).toBe(400);
    expect(text).toContain('fields[0]');
    const [values] = await readValues({ fields: body.fields, metricDataType: 'sum' });
    expect(toCounts(values)).toEqual({ 0: POINTS.filter(({ table }) => table === 'sum').length });
  });

  it('with more different values than are counted, counts are estimated', async () => {
    const ms = T0 - 20 * HOUR_MS;
    const point = toRow(acme.id, { ms, metric: 'many', service: 'x', host: '' });
    const many = Array.from({ length: 30_000 }, (_, id) => ({ ...point, Attributes: { id: `value-${id}` } }));
    const frequent = many.slice(0, 1000).map((row) => ({ ...row, Attributes: { id: 'frequent' } }));
    await ingest.server.engine.insert('otel_metrics_gauge', [...many, ...frequent]);
    const [values] = await readValues({ ...span(ms, ms + 1), fields: ["Attributes['id']"], limit: 5 });
    expect(values.isExact).toBe(false);
    expect(values.values).toHaveLength(5);
    expect(values.values[0].value).toBe('frequent');
    expect(values.error).toBeUndefined();
  });

  it('another organization sees its own values only, and the telemetry of Pilothouse has its own', async () => {
    const [metrics] = await readValues({ fields: ['MetricName'] }, globex.token);
    expect(Object.keys(toCounts(metrics))).toEqual(['secret']);
    const [own] = await readValues({ sourceId: 'pilothouse-metrics', fields: ['MetricName'] });
    expect(Object.keys(toCounts(own))).not.toContain('requests');
  });
});
