import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { text, toNanos, toRequest } from '../support/otlp-requests.ts';
import { createSearchClient, T0 } from '../support/search.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const POINTS = 25;
const range = { startTime: new Date(T0 - 60_000).toISOString(), endTime: new Date(T0 + 60_000).toISOString() };

describe('the points of a metric', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  const list = (body: object, token?: string) => post('metrics/points', { ...range, ...body }, token);
  const gauge = { metricName: 'queue.length', metricDataType: 'gauge' };

  beforeAll(async () => {
    const exemplar = (at: number, asDouble: number) => ({
      timeUnixNano: toNanos(at),
      asDouble,
      traceId: TRACE,
      spanId: SPAN,
      filteredAttributes: [text('user', 'ann')],
    });
    const points = Array.from({ length: POINTS }, (_, index) => ({
      // Some have the same time.
      timeUnixNano: toNanos(T0 + 100 * Math.floor(index / 3)),
      asDouble: index,
      attributes: [text('queue', index % 2 === 0 ? 'even' : 'odd'), text('n', `${index}`)],
      ...(index === 7 && { exemplars: [exemplar(T0 + 3, 7.5), { ...exemplar(T0 + 4, 8), traceId: '', spanId: '' }] }),
    }));
    const histogram = {
      startTimeUnixNano: toNanos(T0 - 1000),
      timeUnixNano: toNanos(T0),
      count: '3',
      sum: 6.5,
      bucketCounts: ['1', '2'],
      explicitBounds: [2],
      exemplars: [exemplar(T0, 1.5)],
    };
    const metrics = [
      { name: gauge.metricName, unit: '{message}', gauge: { dataPoints: points } },
      { name: "it's", histogram: { aggregationTemporality: 2, dataPoints: [histogram] } },
    ];
    const target = { url: ingest.server.otlpUrl, authorization: `Bearer ${ingest.acme}` };
    expect((await send(target, 'metrics', toRequest('metrics', metrics))).status).toBe(200);
  });

  it('are returned as they were received, with their exemplars', async () => {
    const { status, json, text: answer } = await list({ metricName: "it's", metricDataType: 'histogram' });
    expect(status, answer).toBe(200);
    expect(json).toEqual({
      data: [
        expect.objectContaining({
          time: `${new Date(T0).toISOString().slice(0, -1)}000000Z`,
          startTime: `${new Date(T0 - 1000).toISOString().slice(0, -1)}000000Z`,
          service: 'checkout',
          count: 3,
          sum: 6.5,
          bucketCounts: [1, 2],
          explicitBounds: [2],
          temporality: 2,
          exemplars: [
            {
              time: `${new Date(T0).toISOString().slice(0, -1)}000000Z`,
              value: 1.5,
              traceId: TRACE,
              spanId: SPAN,
              attributes: { user: 'ann' },
            },
          ],
        }),
      ],
      nextCursor: null,
    });
  });

  it('are found by their exemplars', async () => {
    const { json } = await list({ ...gauge, withExemplars: true });
    expect(
      json.data.map(({ value, unit, exemplars }: Json) => [
        value,
        unit,
        exemplars.map((one: Json) => [one.traceId, one.value]),
      ]),
    ).toEqual([
      [
        7,
        '{message}',
        [
          [TRACE, 7.5],
          ['', 8],
        ],
      ],
    ]);
    expect(json.data[0]).not.toHaveProperty('startTime');
  });

  it('are filtered and read page by page, each once', async () => {
    const filters = [{ type: 'sql', condition: "Attributes['queue'] = 'even'" }];
    const body = { ...gauge, filters, maxResults: 4 };
    const values: number[] = [];
    let cursor: string | undefined;
    do {
      const { status, json, text: answer } = await list({ ...body, ...(cursor !== undefined && { cursor }) });
      expect(status, answer).toBe(200);
      values.push(...json.data.map(({ value }: Json) => value));
      cursor = json.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 13 }, (_, index) => 2 * index));
  });

  it('belong to one organization and need a right', async () => {
    expect((await list(gauge, globex.token)).json.data).toEqual([]);
    expect((await list(gauge, ingest.acme)).status).toBe(403);
    expect((await list(gauge, acme.token)).json.data).toHaveLength(POINTS);
  });

  it.each([
    [{ sourceId: 'nothing' }, 404, 'Source not found'],
    [{ sourceId: 'logs' }, 400, 'sourceId: Points need a source of metrics'],
    [
      { metricDataType: 'summary', withExemplars: true },
      400,
      'withExemplars: Points of the type summary have no exemplars',
    ],
    [{ where: 'Nosuch:1' }, 400, 'where: '],
    [{ cursor: 'x' }, 400, 'cursor'],
    [{ maxResults: 1001 }, 400, 'maxResults'],
  ])('%j is rejected', async (body, status, message) => {
    const response = await list({ ...gauge, ...body });
    expect([response.status, response.json.message]).toEqual([status, expect.stringContaining(message)]);
  });
});
