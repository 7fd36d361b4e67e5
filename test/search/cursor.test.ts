import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { isLongRun } from '../support/long-run.ts';
import { createSearchClient, T0 } from '../support/search.ts';

const range = { startTime: new Date(T0).toISOString(), endTime: new Date(T0 + 3 * 86_400_000).toISOString() };

interface Given {
  rows: { nanos: number; body: number; day: boolean }[];
  sizes: number[];
}

/** Many rows have the same time, and many are equal. */
const given = fc.record<Given>({
  rows: fc.array(
    fc.record({
      nanos: fc.integer({ min: 0, max: 4 }),
      body: fc.integer({ min: 0, max: 3 }),
      day: fc.boolean(),
    }),
    { maxLength: 60 },
  ),
  sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
});

describe('the cursor of a search', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  let run = 0;

  async function insert(service: string, rows: Given['rows']): Promise<string[]> {
    const stored = rows.map(({ nanos, body, day }) => ({
      OrganizationId: acme.id,
      Timestamp: `${new Date(T0 + (day ? 86_400_000 : 0)).toISOString().slice(0, 19)}.00000000${nanos}Z`,
      ServiceName: service,
      Body: `body ${body}`,
    }));
    await ingest.server.engine.insert('otel_logs', stored);
    return stored.map(({ Timestamp, Body }) => JSON.stringify({ Timestamp, Body }));
  }

  async function readAll(service: string, sizes: number[]): Promise<Json[]> {
    const rows: Json[] = [];
    let cursor: string | null = 'start';
    for (let page = 0; cursor !== null; page++) {
      const maxResults = sizes[page % sizes.length];
      const body = { sourceId: 'logs', ...range, where: `ServiceName:"${service}"`, select: 'Timestamp, Body' };
      const { status, json, text } = await post('search', { ...body, maxResults, cursor });
      expect(status, text).toBe(200);
      expect(json.rows).toBeLessThanOrEqual(maxResults ?? 0);
      rows.push(...json.data);
      cursor = json.nextCursor;
      expect(page).toBeLessThan(1000);
    }
    return rows;
  }

  it('returns every row exactly once, whatever the page size, also among equal times and equal rows', async () => {
    await fc.assert(
      fc.asyncProperty(given, async ({ rows, sizes }) => {
        const service = `property-${run++}`;
        const expected = await insert(service, rows);
        const found = await readAll(service, sizes);
        const times = found.map((row) => row.Timestamp);
        expect(times).toEqual([...times].sort().reverse());
        expect(found.map((row) => JSON.stringify(row)).sort()).toEqual(expected.sort());
      }),
      { numRuns: isLongRun ? 100 : 12 },
    );
  }, 240_000);

  it('continues after rows that were left out because of their size', async () => {
    const rows = Array.from({ length: 8 }, (_, index) => ({
      OrganizationId: acme.id,
      Timestamp: new Date(T0 + (index % 4)).toISOString(),
      ServiceName: 'large',
      Body: `${index} ${'x'.repeat(700_000)}`,
    }));
    await ingest.server.engine.insert('otel_logs', rows);
    const body = {
      sourceId: 'logs',
      ...range,
      where: 'ServiceName:"large"',
      select: 'substring(Body, 1, 1) AS n, Body',
    };
    const found: string[] = [];
    const pages: number[] = [];
    let cursor: string | null = 'start';
    while (cursor !== null) {
      const { json, text } = await post('search', { ...body, cursor });
      expect(text.length).toBeLessThan(5_000_000);
      found.push(...json.data.map((row: Json) => row.n));
      pages.push(json.rows);
      cursor = json.nextCursor;
    }
    expect(found.sort().join('')).toBe('01234567');
    expect(Math.max(...pages)).toBeLessThan(8);
  }, 60_000);

  it('belongs to its query', async () => {
    await insert(
      'bound',
      Array.from({ length: 5 }, (_, nanos) => ({ nanos, body: 0, day: false })),
    );
    const body = { sourceId: 'logs', ...range, where: 'ServiceName:"bound"', maxResults: 2 };
    const { json } = await post('search', body);
    const next = { ...body, cursor: json.nextCursor };
    expect((await post('search', { ...next, select: 'Body', maxResults: 10 })).json.rows).toBe(3);
    const others = [
      { where: 'ServiceName:"other"' },
      { sourceId: 'traces' },
      { whereLanguage: 'sql', where: "ServiceName = 'bound'" },
      { filters: [{ type: 'sql', condition: 'Body IN (1)' }] },
      { startTime: range.endTime, endTime: undefined },
      { cursor: `${next.cursor}A` },
      { cursor: next.cursor.slice(1) },
      { cursor: '' },
      { orderBy: 'Body' },
      { id: '1-00000000000000000000000000000000' },
    ];
    for (const other of others) {
      const { status, json: failed } = await post('search', { ...next, ...other });
      expect([status, JSON.stringify(other)]).toEqual([400, JSON.stringify(other)]);
      expect(failed.errors[0].path, JSON.stringify(failed)).toBe('cursor');
    }
    // Of the default order.
    expect((await post('search', { ...next, orderBy: 'Timestamp DESC', offset: 5 })).json.rows).toBe(2);
  });

  it('says how far it has looked', async () => {
    const body = { sourceId: 'logs', ...range, where: 'ServiceName:"nothing at all"', maxWaitMs: 30_000 };
    const { json } = await post('search', body);
    expect([json.rows, json.nextCursor, json.searchedFrom]).toEqual([
      0,
      null,
      `${range.startTime.slice(0, 19)}.000000000Z`,
    ]);
    await insert('looked', [
      { nanos: 4, body: 0, day: true },
      { nanos: 3, body: 0, day: true },
    ]);
    const first = await post('search', { ...body, where: 'ServiceName:"looked"', maxResults: 1 });
    expect(first.json.searchedFrom).toBe(first.json.data[0].Timestamp);
    expect(first.json.searchedFrom).toMatch(/\.000000004Z$/);
  });
});
