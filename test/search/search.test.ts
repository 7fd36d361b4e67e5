import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { createSearchClient, T0 } from '../support/search.ts';

const row = (organizationId: string, ms: number, body: string, more: object = {}) => ({
  OrganizationId: organizationId,
  Timestamp: new Date(T0 + ms).toISOString().replace('Z', '456789Z'),
  ServiceName: 'checkout',
  SeverityText: 'INFO',
  Body: body,
  ...more,
});

describe('search', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);

  beforeAll(async () => {
    await ingest.server.engine.insert('otel_logs', [
      row(acme.id, 0, 'first payment', { LogAttributes: { user: 'ada' } }),
      row(acme.id, 1000, 'second payment failed', { SeverityText: 'ERROR', ServiceName: 'billing' }),
      row(acme.id, 2000, 'third', { ResourceAttributes: { 'host.name': 'h1' } }),
      row(globex.id, 1500, 'secret of globex'),
    ]);
  });
  const range = { startTime: new Date(T0 - 60_000).toISOString(), endTime: new Date(T0 + 60_000).toISOString() };

  it('returns the columns of the source, newest first, with times in nanoseconds', async () => {
    const { status, json } = await post('search', { sourceId: 'logs', ...range });
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json.rows).toBe(3);
    expect(json.data[0]).toEqual({
      Timestamp: new Date(T0 + 2000).toISOString().replace('Z', '456789Z'),
      ServiceName: 'checkout',
      SeverityText: 'INFO',
      Body: 'third',
    });
    expect(json.nextCursor).toBeNull();
    expect(json.searchedFrom).toBe(`${range.startTime.slice(0, 19)}.000000000Z`);
  });

  it('selects, filters and orders by expressions', async () => {
    const { json } = await post('search', {
      sourceId: 'logs',
      ...range,
      where: 'payment',
      filters: [{ type: 'sql', condition: "ServiceName IN ('checkout', 'billing')" }],
      select: 'upper(Body) AS loud, LogAttributes[\'user\'], length(Body) AS "n b"',
      orderBy: '"n b" DESC, Timestamp',
    });
    expect(json.data).toEqual([
      { loud: 'SECOND PAYMENT FAILED', "LogAttributes['user']": '', 'n b': 21 },
      { loud: 'FIRST PAYMENT', "LogAttributes['user']": 'ada', 'n b': 13 },
    ]);
    const second = await post('search', { sourceId: 'logs', ...range, select: 'Body', offset: 1, maxResults: 1 });
    expect(second.json.data).toEqual([{ Body: 'second payment failed' }]);
  });

  it('returns all columns of one row by its id', async () => {
    const found = await post('search', { sourceId: 'logs', ...range, where: 'third', withIds: true, select: 'Body' });
    const [id] = found.json.ids;
    const { json } = await post('search', { sourceId: 'logs', id });
    expect(json.data[0]).toMatchObject({
      Body: 'third',
      ResourceAttributes: { 'host.name': 'h1' },
      SeverityText: 'INFO',
    });
    expect(json.data[0].Timestamp).toMatch(/456789Z$/);
  });

  it('counts by severity over time', async () => {
    const { status, json } = await post('search/histogram', { sourceId: 'logs', ...range, granularity: '1m' });
    expect(status, JSON.stringify(json)).toBe(200);
    const counts = json.data.series.map((one: Json) => [
      one.group[0],
      one.values.reduce((a: number, b: number) => a + b),
    ]);
    expect(Object.fromEntries(counts)).toEqual({ INFO: 2, ERROR: 1 });
  });

  it('finds the rows around a row', async () => {
    const at = new Date(T0 + 1000).toISOString().replace('Z', '456789Z');
    const { status, json } = await post('search/context', { sourceId: 'logs', time: at, select: 'Body' });
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json.data.map((one: Json) => one.Body)).toEqual(['third', 'second payment failed', 'first payment']);
    expect([json.index, json.hasMoreBefore, json.hasMoreAfter]).toEqual([1, false, false]);
    const scoped = await post('search/context', {
      sourceId: 'logs',
      time: at,
      select: 'Body',
      scope: 'host',
      value: 'h1',
    });
    expect(scoped.json.data).toEqual([{ Body: 'third' }]);
    const near = await post('search/context', { sourceId: 'logs', time: at, select: 'Body', rangeMs: 100 });
    expect(near.json.data).toEqual([{ Body: 'second payment failed' }]);
  });

  it('exports NDJSON and CSV', async () => {
    const ndjson = await post('search/export', { sourceId: 'logs', ...range, select: 'Body', format: 'ndjson' });
    expect(ndjson.text).toBe('{"Body":"third"}\n{"Body":"second payment failed"}\n{"Body":"first payment"}\n');
    const csv = await post('search/export', {
      sourceId: 'logs',
      ...range,
      select: 'Body, LogAttributes',
      format: 'csv',
      limit: 1,
    });
    expect(csv.text).toBe('Body,LogAttributes\r\nthird,{}\r\n');
  });

  it('names mistakes', async () => {
    const expectMistake = async (body: object, status: number, message: RegExp) => {
      const response = await post('search', { sourceId: 'logs', ...range, ...body });
      expect([response.status, response.json.message]).toEqual([status, expect.stringMatching(message)]);
    };
    await expectMistake({ sourceId: 'nothing' }, 404, /^Source not found$/);
    await expectMistake({ sourceId: 'metrics' }, 400, /logs or traces/);
    await expectMistake({ where: 'ServiceNam:x' }, 400, /^where: .*did you mean "ServiceName"\?/);
    await expectMistake({ where: "Serviename = 'x'", whereLanguage: 'sql' }, 400, /did you mean "ServiceName"\?/);
    await expectMistake({ select: 'Body; DROP TABLE x' }, 400, /^select: /);
    await expectMistake({ select: '(SELECT 1)' }, 400, /^select: /);
    await expectMistake({ select: 'OrganizationId' }, 400, /^select: Unknown column/);
    await expectMistake({ orderBy: 'Nothing DESC' }, 400, /^orderBy: /);
    await expectMistake({ cursor: 'abc' }, 400, /cursor/);
    await expectMistake({ filters: [{ type: 'sql', condition: 'x =' }] }, 400, /^filters\[0\]: /);
    await expectMistake({ startTime: 'yesterday' }, 400, /startTime/);
    await expectMistake({ startTime: range.endTime, endTime: range.startTime }, 400, /start must be before the end/);
    await expectMistake({ maxResults: 2001 }, 400, /maxResults/);
    const longFilter = { type: 'sql', condition: `Body = '${'x'.repeat(8000)}'` };
    await expectMistake({ filters: Array(9).fill(longFilter) }, 400, /^filters: .* at most 65536 characters/);
    const lengths = Array.from({ length: 1500 }, (_, index) => `length(Body)!=${index}`);
    const filters = [0, 300, 600, 900, 1200].map((from) => ({
      type: 'sql',
      condition: lengths.slice(from, from + 300).join(' AND '),
    }));
    await expectMistake({ filters }, 400, /too many values/);
  });
});
