import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { QUERY, rows, T0 } from '../support/board.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const range = QUERY.replace('&timezone=UTC', '');
const foreign = {
  OrganizationId: globex.id,
  Timestamp: new Date(T0).toISOString(),
  ServiceName: 'theirs',
  LogAttributes: { 'secret-key': '1' },
};
const rare = { OrganizationId: acme.id, Timestamp: new Date(T0).toISOString(), LogAttributes: { ms: '1', rare: '1' } };

interface Column {
  name: string;
  type: string;
  keys?: string[];
  values?: string[];
}

onEachStoreInLongRuns('the columns of a source', (store) => {
  const server = useServer(store);
  beforeAll(() =>
    fillEngine(join(server.directory, 'data'), { ...rows, otel_logs: [...rows.otel_logs, rare, foreign] }),
  );

  const columns = async (source: string, query = range, token = acme.token): Promise<Column[]> => {
    const { status, json, text } = await server.call({ path: `/api/v2/sources/${source}/columns?${query}`, token });
    expect(status, text).toBe(200);
    return json.data;
  };
  const findKeys = (list: Column[], column: string) => list.find(({ name }) => name === column)?.keys;

  it('match the table and include map keys, most frequent first', async () => {
    const list = await columns('logs');
    expect(list).toContainEqual({ name: 'Timestamp', type: 'DateTime64(9)' });
    expect(list).toContainEqual({ name: 'EventName', type: 'String' });
    expect(findKeys(list, 'LogAttributes')).toEqual(['ms', 'rare']);
    expect(findKeys(list, 'ResourceAttributes')).toEqual([]);
    expect(list.map(({ name }) => name)).not.toContain('OrganizationId');
  });

  it('depend on the type of metric', async () => {
    const names = async (type: string) => (await columns('metrics', type)).map(({ name }) => name);
    expect(await names('')).toContain('Value');
    expect(await names('metricDataType=histogram')).toContain('ExplicitBounds');
    expect(await names('metricDataType=gauge')).not.toContain('ExplicitBounds');
  });

  it('include the metric names in the range', async () => {
    const metrics = async (query: string, token = acme.token) =>
      (await columns('metrics', query, token)).find(({ name }) => name === 'MetricName')?.values;
    expect(await metrics(range)).toEqual(['memory']);
    expect(await metrics(`${range}&metricDataType=sum`)).toEqual([]);
    expect(await metrics(`start=${T0 - 3_600_000}&end=${T0}`)).toEqual([]);
    expect(await metrics(range, globex.token)).toEqual([]);
  });

  it('include only keys of the organization and of the range', async () => {
    expect(findKeys(await columns('logs', range, globex.token), 'LogAttributes')).toEqual(['secret-key']);
    const early = `start=${T0 - 3_600_000}&end=${T0}`;
    expect(findKeys(await columns('logs', early), 'LogAttributes')).toEqual([]);
  });

  it.each<[string, string, number]>([
    ['an unknown source', `nope/columns?${range}`, 404],
    ['an invalid id', `${encodeURIComponent('a"b')}/columns?${range}`, 404],
    ['a range that ends before it starts', `logs/columns?start=${T0}&end=${T0 - 1}`, 400],
    ['an invalid metric type', 'metrics/columns?metricDataType=heap', 400],
    ['an unknown parameter', 'logs/columns?size=9', 400],
  ])('are not returned for %s', async (_, path, status) => {
    expect((await server.call({ path: `/api/v2/sources/${path}`, token: acme.token })).status).toBe(status);
  });

  it('are not available for a missing table or to another organization', async () => {
    const body = { name: 'Gone', kind: 'log', from: { databaseName: 'shop', tableName: 'events' } };
    const created = await server.call({ method: 'POST', path: '/api/v2/sources', token: acme.writer, body });
    const path = `/api/v2/sources/${created.json.data.id}/columns`;
    const { status, json } = await server.call({ path, token: acme.token });
    expect(status).toBe(400);
    expect(json.message).toContain('shop.events');
    expect((await server.call({ path, token: globex.token })).status).toBe(404);
    expect((await server.call({ path })).status).toBe(401);
  });
});
