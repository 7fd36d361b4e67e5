import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { text, toNanos, toRequest } from '../support/otlp-requests.ts';
import { T0 } from '../support/search.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 120_000 };
const SOURCES = 'src/observability';
/** Their results may be some seconds old. Nothing that returns rows is here. */
const SHARED = ['charts/charts.ts', 'charts/tiles/distribution-tile.ts', 'traces/traces.ts'];
const TRACE = '11111111111111111111111111111111';

const range = { startTime: new Date(T0 - 60_000).toISOString(), endTime: new Date(T0 + 3_600_000).toISOString() };
const span = { start: range.startTime, end: range.endTime };
const logs = { sourceId: 'logs', where: 'Body:fresh*', ...range };

it('only these files read results that may be some seconds old', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const users = files.filter((name) => readFileSync(join(SOURCES, name), 'utf8').includes('.queryShared'));
  expect(users.sort()).toEqual(SHARED);
});

describe('what was accepted before a request', () => {
  const ingest = useIngest('libsql');
  const call = createClient(() => ({ url: ingest.server.url, dashboardUrl: ingest.server.url }));
  let stored = 0;

  /** Two rows of each signal, in the middle of what was sent before. */
  async function store(): Promise<void> {
    const target = { url: ingest.server.otlpUrl, authorization: `Bearer ${ingest.acme}` };
    const at = (index: number) => toNanos(T0 + 1000 * index);
    const numbers = [stored++, stored++];
    const records = {
      logs: numbers.map((n) => ({
        timeUnixNano: at(n),
        body: { stringValue: `fresh ${n}` },
        attributes: [text('n', `${n}`)],
      })),
      traces: numbers.map((n) => ({
        traceId: TRACE,
        spanId: `${n}`.padStart(16, '1'),
        name: `span ${n}`,
        kind: 2,
        startTimeUnixNano: at(n),
        endTimeUnixNano: toNanos(T0 + 1000 * n + 5),
      })),
    };
    for (const signal of ['logs', 'traces'] as const)
      expect((await send(target, signal, toRequest(signal, records[signal]))).status).toBe(200);
  }

  async function post(path: string, body: object): Promise<Json> {
    const {
      status,
      json,
      text: answer,
    } = await call({ method: 'POST', path: `/api/v2/${path}`, token: acme.token, body });
    expect(status, answer).toBe(200);
    return json ?? answer;
  }

  const series = (type: string, rest: object = {}) => ({
    type,
    aggFn: 'count',
    sourceId: 'logs',
    where: 'Body:fresh*',
    ...rest,
  });
  const tile = (one: object) => post('charts/tile', { ...span, series: [one], granularity: '1h', limit: 200 });
  const sum = (values: (number | null)[]): number => values.reduce<number>((total, value) => total + (value ?? 0), 0);

  beforeAll(store);

  /** Reads, stores more, and reads the same again: what is counted must be everything. */
  async function expectFresh(count: () => Promise<number>): Promise<void> {
    await count();
    await store();
    expect(await count()).toBe(stored);
  }

  const ROWS: Record<string, () => Promise<number>> = {
    search: async () => (await post('search', { ...logs, maxResults: 2000 })).rows,
    'search by another order': async () =>
      (await post('search', { ...logs, orderBy: 'Body ASC', maxResults: 2000 })).rows,
    'search with an offset': async () => (await post('search', { ...logs, offset: 1, maxResults: 2000 })).rows + 1,
    context: async () =>
      (
        await post('search/context', {
          sourceId: 'logs',
          where: 'Body:fresh*',
          time: new Date(T0).toISOString(),
          rangeMs: 900_000,
          maxAfter: 500,
        })
      ).rows,
    export: async () =>
      String(await post('search/export', { ...logs, format: 'csv' }))
        .trim()
        .split('\n').length - 1,
    facets: async () =>
      (await post('search/facets', { sourceId: 'logs', ...range })).data.find(({ key }: Json) => key === 'n').rows,
    'facet values': async () =>
      (await post('search/facets/values', { ...logs, fields: ["LogAttributes['n']"], limit: 500 })).data[0].values
        .length,
    'a search tile': async () =>
      (await tile({ type: 'search', sourceId: 'logs', where: 'Body:fresh*', fields: ['Body'] })).data.rows.length,
    'a trace': async () => (await call({ path: `/api/v2/traces/${TRACE}`, token: acme.token })).json.data.spans.length,
    'a search for traces': async () =>
      (await post('traces/search', { sourceId: 'traces', ...span })).data.traces[0].spans,
  };

  it.each(Object.keys(ROWS))('is in the result of %s', TIMEOUT, (name) =>
    expectFresh(ROWS[name] as () => Promise<number>),
  );

  it('is on a later page, also if another client has read the same page', TIMEOUT, async () => {
    const page = { ...logs, maxResults: 1 };
    const first = await post('search', page);
    const readRest = async () => (await post('search', { ...page, maxResults: 2000, cursor: first.nextCursor })).data;
    const before = await readRest();
    // Older than the first page.
    const target = { url: ingest.server.otlpUrl, authorization: `Bearer ${ingest.acme}` };
    const late = {
      timeUnixNano: toNanos(T0 - 1),
      body: { stringValue: 'fresh late' },
      attributes: [text('n', 'late')],
    };
    expect((await send(target, 'logs', toRequest('logs', [late]))).status).toBe(200);
    stored++;
    expect((await readRest()).length).toBe(before.length + 1);
  });

  const AGGREGATES: Record<string, () => Promise<number>> = {
    histogram: async () =>
      sum((await post('search/histogram', logs)).data.series.flatMap(({ values }: Json) => values)),
    'a time tile': async () => sum((await tile(series('time'))).data.series.flatMap(({ values }: Json) => values)),
    'a number tile': async () => (await tile(series('number'))).data.value,
    'the service map': async () =>
      (await post('traces/service-map', { sourceId: 'traces', ...span })).data.nodes[0].requests,
  };

  it.each(Object.keys(AGGREGATES))('is in the result of %s after some seconds', TIMEOUT, async (name) => {
    const count = AGGREGATES[name] as () => Promise<number>;
    await count();
    await store();
    await until(count, (found) => found >= stored - 1, 'the result stays old');
  });
});
