import fc from 'fast-check';
import { expect } from 'vitest';
import type { ApiResponse, Call, Json } from './client.ts';
import { acme } from './fleet.ts';
import type { TestServer } from './server.ts';

export const DASHBOARDS = '/api/v2/dashboards';
export const HEX_ID = /^[0-9a-f]{24}$/;

export const markdown = { type: 'markdown', content: '# hello' };
const count = { type: 'time', aggFn: 'count' };
export const tile = (more: object = {}): Json => ({ x: 0, y: 0, w: 12, h: 4, series: [count], ...more });

/** Calls the API with a token that has write access. */
export const write = (
  server: TestServer,
  method: string,
  suffix: string,
  body?: unknown,
  more: Partial<Call> = {},
): Promise<ApiResponse> =>
  server.call({
    method,
    path: DASHBOARDS + suffix,
    token: acme.writer,
    ...(body === undefined ? {} : { body }),
    ...more,
  });

export const read = (server: TestServer, suffix: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  server.call({ path: DASHBOARDS + suffix, token: acme.token, headers });

/** Creates a dashboard over HTTP and returns the response and its ETag. */
export async function createDashboard(server: TestServer, body: object): Promise<{ data: Json; etag: string }> {
  const { status, json, text, headers } = await write(server, 'POST', '', body);
  expect(status, text).toBe(200);
  return { data: json.data, etag: headers.get('etag') ?? '' };
}

/** Short strings in any script that every store supports. */
export const shortText = (maxLength: number, minLength = 0) =>
  fc
    .string({ minLength, maxLength: Math.min(maxLength, 40), unit: 'grapheme' })
    .map((value) => value.replaceAll('\u0000', '').toWellFormed().slice(0, maxLength))
    .filter((value) => value.length >= minLength && value.isWellFormed());

const optional = { requiredKeys: [] as [] };

/** As it arrives after JSON: without -0 and without objects that have no prototype. */
export const anyNumberFormat = (maxDepth: number) =>
  fc
    .dictionary(fc.constantFrom('output', 'mantissa', 'unit'), fc.jsonValue({ maxDepth }))
    .map((format): Json => JSON.parse(JSON.stringify(format)));

const shared = {
  dataSource: fc.constantFrom('events', 'metrics'),
  field: shortText(100),
  groupBy: fc.array(shortText(100), { maxLength: 10 }),
  where: shortText(200),
  whereLanguage: fc.constantFrom('lucene', 'sql'),
  sourceId: fc.constantFrom('logs', 'traces', 'metrics'),
  metricName: shortText(100),
  metricDataType: fc.constantFrom('gauge', 'sum', 'histogram', 'summary', 'exponential histogram'),
  alias: shortText(100),
  displayType: fc.constantFrom('line', 'stacked_bar', 'stacked_line'),
  sortOrder: fc.constantFrom('asc', 'desc'),
  numberFormat: anyNumberFormat(2),
};

const chartSeries = fc
  .tuple(fc.record(shared, optional), fc.constantFrom('avg', 'count', 'quantile', 'increase', 'rate', 'none'))
  .map(([more, aggFn]) => ({ ...more, aggFn, ...(aggFn === 'quantile' ? { level: 0.5 } : {}) }));

const TYPES = ['time', 'table', 'number', 'pie', 'bar', 'heatmap', 'histogram', 'search', 'markdown'] as const;

const series = fc.constantFrom(...TYPES).chain((type) => {
  const one =
    type === 'histogram'
      ? fc.tuple(fc.record(shared, optional), shortText(40)).map(([more, field]) => ({ ...more, field: `x${field}` }))
      : type === 'markdown'
        ? fc.record({ content: shortText(500) })
        : type === 'search'
          ? fc.tuple(fc.record(shared, optional), fc.array(shortText(40), { maxLength: 5 })).map(([more, fields]) => ({
              ...more,
              fields,
            }))
          : chartSeries;
  return fc.array(
    one.map((members) => ({ type, ...members })),
    { minLength: 1, maxLength: 3 },
  );
});

const tiles = fc.record(
  {
    id: shortText(36, 1),
    name: shortText(100),
    asRatio: fc.boolean(),
    x: fc.integer({ min: 0, max: 12 }),
    y: fc.integer({ min: 0, max: 1000 }),
    w: fc.integer({ min: 1, max: 12 }),
    h: fc.integer({ min: 1, max: 100 }),
    series,
  },
  { requiredKeys: ['x', 'y', 'w', 'h', 'series'] },
);

/** The members of a tile that a config can express as well. */
export const anySeriesTile = fc.record({ asRatio: fc.boolean(), series }, { requiredKeys: ['series'] });

/** Arbitrary valid dashboards, covering almost all of the schema. */
export const anyDashboard = fc.record(
  {
    name: shortText(200, 1),
    tags: fc.array(shortText(32), { maxLength: 6 }),
    tiles: fc.uniqueArray(tiles, { maxLength: 4, selector: ({ id }) => id ?? {} }),
  },
  { requiredKeys: ['name'] },
);
