import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { T0 } from '../support/board.ts';
import { fillEngine } from '../support/engine.ts';
import { acme } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const SECOND = 1000;
const ROWS = 400;
const BODY_BYTES = 50_000;
const MEBIBYTE = 2 ** 20;

/** 20 MB in total. */
const large = Array.from({ length: ROWS }, (_, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + index * SECOND).toISOString(),
  ServiceName: 'large',
  Body: `${index} ${'long '.repeat(BODY_BYTES / 5)}`,
}));
const huge = [
  {
    OrganizationId: acme.id,
    Timestamp: new Date(T0).toISOString(),
    ServiceName: 'huge',
    Body: 'x'.repeat(5 * MEBIBYTE),
  },
];
/** As many points as a wide chart shows. */
const ordinary = Array.from({ length: 6000 }, (_, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + Math.floor(index / 20) * SECOND).toISOString(),
  ServiceName: `a service with quite a long name, number ${index % 20}`,
  Body: 'ordinary',
}));

onEachStoreInLongRuns('data larger than a response may be', (store) => {
  const server = useServer(store);
  beforeAll(() => fillEngine(join(server.directory, 'data'), { otel_logs: [...large, ...huge, ...ordinary] }));

  const preview = (body: object) =>
    server.call({
      method: 'POST',
      path: '/api/v2/charts/tile',
      token: acme.token,
      body: { start: T0, end: T0 + 1000 * SECOND, ...body },
    });
  const search = (where: string, limit?: number) =>
    preview({ series: [{ type: 'search', sourceId: 'logs', where, fields: ['ServiceName', 'Body'] }], limit });

  it('is cut to the newest rows of a search, and the response says so', async () => {
    const { status, json, text } = await search('ServiceName:large', 1000);
    expect(status).toBe(200);
    expect(json.data.truncated).toBe(true);
    expect(json.data.rows.length).toBeGreaterThan(20);
    expect(json.data.rows.length).toBeLessThan(ROWS);
    expect(text.length).toBeLessThan(3 * MEBIBYTE);
    const newest = json.data.rows.map(([, , body]: string[]) => Number(body?.split(' ', 1)[0]));
    expect(newest).toEqual(newest.map((_: number, index: number) => ROWS - 1 - index));
  });

  it('is not cut if the rows fit', async () => {
    const few = await search('ServiceName:large', 20);
    expect([few.json.data.rows.length, few.json.data.truncated]).toEqual([20, false]);
    const many = await search('Body:ordinary', 1000);
    expect([many.json.data.rows.length, many.json.data.truncated]).toEqual([1000, false]);
    const none = await search('ServiceName:none');
    expect([none.json.data.rows, none.json.data.truncated]).toEqual([[], false]);
  });

  it('is rejected if one row of a search or the labels of groups are too large, with what to narrow', async () => {
    const chart = { type: 'table', sourceId: 'logs', aggFn: 'count', where: 'ServiceName:large', groupBy: ['Body'] };
    for (const response of [await search('ServiceName:huge'), await preview({ series: [chart], groups: 400 })]) {
      expect(response.status).toBe(400);
      expect(response.json.message).toContain('larger than 4 MiB; use a shorter time range, fewer groups');
    }
  });

  it('is not the data of a tile with 20 series of 20 groups and 300 points', async () => {
    const series = Array.from({ length: 20 }, (_, index) => ({
      type: 'time',
      sourceId: 'logs',
      aggFn: 'count',
      where: `Body:ordinary AND NOT ServiceName:none${index}`,
      groupBy: ['ServiceName'],
    }));
    const { status, json } = await preview({ series, end: T0 + 300 * SECOND, granularity: '1s' });
    expect(status).toBe(200);
    expect(json.data.series).toHaveLength(400);
    expect(json.data.buckets).toHaveLength(300);
  });
});
