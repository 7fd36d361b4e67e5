import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { createSearchClient, T0 } from '../support/search.ts';

const HOUR_MS = 3_600_000;
const FIRST = Math.floor(T0 / HOUR_MS) * HOUR_MS - 9 * HOUR_MS;
const ROUTES = ['/pay', '/pay', '/pay', '/cart', '/cart', "/it's", '/löschen', ''];

interface LogRow {
  ms: number;
  service: string;
  route: string;
}

/** A row every 70 seconds over nine hours. */
const ROWS: LogRow[] = Array.from({ length: 460 }, (_, index) => ({
  ms: FIRST + index * 70_000,
  service: index % 5 === 0 ? 'billing' : 'checkout',
  route: ROUTES[(index * 7) % ROUTES.length] ?? '',
}));

const toRow = (organizationId: string, { ms, service, route }: LogRow) => ({
  OrganizationId: organizationId,
  Timestamp: new Date(ms).toISOString(),
  ServiceName: service,
  SeverityText: 'INFO',
  Body: 'handled',
  LogAttributes: { 'http.route': route, id: `${ms}`, "it's": 'quoted' },
  ResourceAttributes: { 'host.name': 'h1' },
});

/** The counts of the values, by the rows themselves. */
function count(from: number, to: number, value: (row: LogRow) => string): Json {
  const counts: Record<string, number> = {};
  for (const row of ROWS)
    if (row.ms >= from && row.ms < to && value(row) !== '') counts[value(row)] = (counts[value(row)] ?? 0) + 1;
  return counts;
}

describe('facets', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  const span = (from: number, to: number) => ({
    sourceId: 'logs',
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
  });
  const toCounts = ({ values }: Json) =>
    Object.fromEntries(values.map(({ value, count: rows }: Json) => [value, rows]));

  beforeAll(async () => {
    const { engine } = ingest.server;
    await engine.insert(
      'otel_logs',
      ROWS.slice(0, 200).map((row) => toRow(acme.id, row)),
    );
    await engine.insert(
      'otel_logs',
      ROWS.slice(200).map((row) => toRow(acme.id, row)),
    );
    await engine.insert('otel_logs', [toRow(globex.id, { ms: FIRST, service: 'secret', route: '/secret' })]);
  });

  it('lists the columns and attributes that occur in the range', async () => {
    const { status, json } = await post('search/facets', span(FIRST, FIRST + 9 * HOUR_MS));
    expect(status, JSON.stringify(json)).toBe(200);
    const fields = json.data.map(({ field }: Json) => field).sort();
    expect(fields).toEqual([
      "LogAttributes['http.route']",
      "LogAttributes['id']",
      "LogAttributes['it\\'s']",
      "ResourceAttributes['host.name']",
      'ServiceName',
      'SeverityText',
    ]);
    expect(json.data.find(({ field }: Json) => field === 'ServiceName')).toEqual({
      field: 'ServiceName',
      column: 'ServiceName',
      key: '',
      kind: 'column',
      rows: ROWS.length,
    });
  });

  it('counts the rows of any range exactly, with and without whole hours', async () => {
    const ranges = [
      [FIRST, FIRST + 9 * HOUR_MS],
      [FIRST + 1_234_567, FIRST + 7 * HOUR_MS + 42],
      [FIRST - HOUR_MS, FIRST + 3 * HOUR_MS],
      [FIRST + 2 * HOUR_MS, FIRST + 2 * HOUR_MS + 900_000],
      [FIRST + 20 * HOUR_MS, FIRST + 21 * HOUR_MS],
    ] as const;
    for (const [from, to] of ranges) {
      const fields = ['ServiceName', "LogAttributes['http.route']", 'upper(ServiceName)'];
      const { status, json } = await post('search/facets/values', { ...span(from, to), fields });
      expect(status, JSON.stringify(json)).toBe(200);
      const [services, routes, upper] = json.data;
      expect(toCounts(services)).toEqual(count(from, to, ({ service }) => service));
      expect(toCounts(routes)).toEqual(count(from, to, ({ route }) => route));
      expect(toCounts(upper)).toEqual(count(from, to, ({ service }) => service.toUpperCase()));
      expect(json.data.every(({ isExact }: Json) => isExact)).toBe(true);
    }
  });

  it('counts only the rows that match', async () => {
    const { json } = await post('search/facets/values', {
      ...span(FIRST, FIRST + 9 * HOUR_MS),
      where: 'ServiceName:billing',
      fields: ["LogAttributes['http.route']"],
    });
    const billing = ROWS.filter(({ service }) => service === 'billing');
    const expected: Json = {};
    for (const { route } of billing) if (route !== '') expected[route] = (expected[route] ?? 0) + 1;
    expect(toCounts(json.data[0])).toEqual(expected);
  });

  it('returns the most frequent values and how many rows have others', async () => {
    const { json } = await post('search/facets/values', {
      ...span(FIRST, FIRST + 9 * HOUR_MS),
      fields: ['ServiceName', "LogAttributes['id']"],
      limit: 1,
    });
    const [services, ids] = json.data;
    expect(services).toEqual({
      field: 'ServiceName',
      values: [{ value: 'checkout', count: 368 }],
      isExact: true,
      others: 92,
    });
    expect(ids.others).toBe(ROWS.length - 1);
  });

  it('an unknown column is a 400 that names the field and the nearest column', async () => {
    const { status, text } = await post('search/facets/values', {
      ...span(FIRST, FIRST + HOUR_MS),
      fields: ['ServiceName', 'SeverityTxt'],
    });
    expect(status).toBe(400);
    expect(text).toContain('fields[1]');
    expect(text).toContain('SeverityText');
  });

  it('the source of traces has its own fields', async () => {
    await ingest.server.engine.insert('otel_traces', [
      {
        OrganizationId: acme.id,
        Timestamp: new Date(FIRST).toISOString(),
        TraceId: 'a'.repeat(32),
        SpanId: 'b'.repeat(16),
        SpanName: 'GET /pay',
        ServiceName: 'checkout',
        SpanAttributes: { 'http.request.method': 'GET' },
      },
    ]);
    const { json } = await post('search/facets', { ...span(FIRST, FIRST + HOUR_MS), sourceId: 'traces' });
    expect(json.data.map(({ field }: Json) => field)).toContain("SpanAttributes['http.request.method']");
    const values = await post('search/facets/values', {
      ...span(FIRST - HOUR_MS, FIRST + 5 * HOUR_MS),
      sourceId: 'traces',
      fields: ['SpanName'],
    });
    expect(toCounts(values.json.data[0])).toEqual({ 'GET /pay': 1 });
  });
});
