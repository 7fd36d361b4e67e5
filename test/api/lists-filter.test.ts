import { describe, expect, it } from 'vitest';
import type { Credentials, Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const WAREHOUSE = '3ab15151-9e4d-4e31-b28a-5e906f4dc144';
const PIPE = '9e2a6c56-5e2a-4b2d-9e6a-3f4b5c6d7e8f';
const tag = (key: string, value?: string) => ({ key, ...(value === undefined ? {} : { value }) });
const SERVICES = [
  { name: 'orders', tags: [tag('team', 'sales'), tag('env', 'prod')], dataWarehouseId: WAREHOUSE, isPrimary: true },
  { name: 'reports', tags: [tag('team', 'data'), tag('env', 'prod')], dataWarehouseId: WAREHOUSE, isPrimary: false },
  { name: 'lab', tags: [tag('team', 'data'), tag('env', 'Test_1')] },
  // Contains the text of a tag, without being tagged.
  { name: '"key":"team"' },
  { name: 'bare', tags: [tag('team')] },
].map((service, index) => ({
  id: `0000000${index}-0000-4000-8000-000000000000`,
  createdAt: `2026-01-0${index + 1}T00:00:00Z`,
  ...service,
}));
const DAYS = ['2026-10-01', '2026-10-02', '2026-10-03'];
const cost = (date: string, entityType: string, entityId: string | undefined, computeCHC: number, more = {}) => ({
  date,
  entityType,
  entityId,
  metrics: entityType === 'datawarehouse' ? { storageCHC: computeCHC } : { computeCHC },
  ...more,
});
const [orders, reports, lab] = SERVICES;

onEachStore('filter=tag', (store) => {
  const server = useServer(store, {
    fleet: {
      organizations: [
        {
          id: acme.id,
          name: 'Acme',
          keys: [{ ...acme.admin, roles: ['admin'] }],
          services: SERVICES,
          usageCosts: DAYS.flatMap((date) => [
            cost(date, 'service', orders?.id, 1),
            cost(date, 'service', reports?.id, 2),
            cost(date, 'datawarehouse', WAREHOUSE, 4),
            cost(date, 'clickpipe', PIPE, 8, { serviceId: lab?.id, dataWarehouseId: WAREHOUSE }),
          ]),
        },
        {
          id: globex.id,
          name: 'Globex',
          keys: [{ ...globex.admin, roles: ['admin'] }],
          services: [{ name: 'foreign', tags: [tag('team', 'data')] }],
        },
      ],
    },
  });
  const get = (path: string, key: Credentials = acme.admin) =>
    server.call({ path: `/v1/organizations/${key === acme.admin ? acme.id : globex.id}/${path}`, key });
  const toQuery = (filters: string[]) => filters.map((filter) => `filter=${encodeURIComponent(filter)}`).join('&');

  describe('of services', () => {
    it.each<[string[], string[]]>([
      [['tag:team'], ['orders', 'reports', 'lab', 'bare']],
      [['tag:team=data'], ['reports', 'lab']],
      [['tag:team=data', 'tag:env=prod'], ['reports']],
      [['tag:team=data', 'tag:team=sales'], []],
      [['tag:team='], ['bare']],
      [['tag:env=Test_1'], ['lab']],
      // Neither a pattern nor regardless of case.
      [['tag:env=test_1'], []],
      [['tag:TEAM'], []],
      [['tag:t_am'], []],
      [['tag:unknown'], []],
    ])('%j returns %j', async (filters, expected) => {
      const { status, json } = await get(`services?${toQuery(filters)}`);
      expect(status).toBe(200);
      expect(json.result.map(({ name }: Json) => name)).toEqual(expected);
    });

    it('returns the tags in the record', async () => {
      const { json } = await get('services?filter=tag:env=prod&limit=1');
      expect(json.result[0].tags).toEqual([
        { key: 'team', value: 'sales' },
        { key: 'env', value: 'prod' },
      ]);
    });

    it('M6: has pages, and combines with search and sort', async () => {
      const first = await get('services?filter=tag:team&sort=-name&limit=3');
      expect(first.json.result.map(({ name }: Json) => name)).toEqual(['reports', 'orders', 'lab']);
      const second = await get(`services?filter=tag:team&sort=-name&limit=3&cursor=${first.json.nextCursor}`);
      expect([second.json.result.map(({ name }: Json) => name), second.json.nextCursor]).toEqual([['bare'], null]);
      const found = await get('services?filter=tag:team&search=R');
      expect(found.json.result.map(({ name }: Json) => name)).toEqual(['orders', 'reports', 'bare']);
    });

    it('follows changes of the tags, the name and the service itself', async () => {
      const services = `/v1/organizations/${acme.id}/services`;
      const send = (method: string, path: string, body?: object) =>
        server.call({ method, path: `${services}${path}`, key: acme.admin, ...(body ? { body } : {}) });
      const names = async (query: string) => (await get(`services?${query}`)).json.result.map(({ name }: Json) => name);
      const created = await send('POST', '', {
        name: 'new',
        provider: 'aws',
        region: 'us-east-1',
        ipAccessList: [],
        tags: [tag('owner', 'a')],
      });
      const { id } = created.json.result.service;
      expect(await names('filter=tag:owner=a')).toEqual(['new']);
      const tags = { add: [tag('owner', 'b'), tag('extra')] };
      await send('PATCH', `/${id}`, { tags });
      expect([await names('filter=tag:owner=a'), await names('filter=tag:owner=b')]).toEqual([[], ['new']]);
      await send('PATCH', `/${id}`, {
        name: 'zebra',
        tags: { remove: [tag('extra'), tag('none')], add: [tag('env')] },
      });
      expect(await names('filter=tag:env&sort=-name&limit=1')).toEqual(['zebra']);
      expect([await names('filter=tag:extra'), await names('filter=tag:owner&search=new')]).toEqual([[], []]);
      await send('PATCH', `/${id}/state`, { command: 'stop' });
      await until(
        async () => (await send('GET', `/${id}`)).json.result.state,
        (state) => state === 'stopped',
        'the service does not stop',
      );
      expect((await send('DELETE', `/${id}`)).status).toBe(200);
      expect(await names('filter=tag:owner')).toEqual([]);
    });

    it('combines with id, which selects services by their id', async () => {
      const names = async (rest: string) => (await get(`services?${rest}`)).json.result.map(({ name }: Json) => name);
      const ids = SERVICES.map(({ id }) => `id=${id}`);
      expect(await names(`${ids[3]}&${ids[0]?.toUpperCase().replace('ID', 'id')}`)).toEqual(['orders', '"key":"team"']);
      expect(await names(`${ids.join('&')}&filter=tag:team=data&sort=name`)).toEqual(['lab', 'reports']);
      expect(await names(`id=${globex.id}`)).toEqual([]);
    });

    it('M4: finds services of the own organization only', async () => {
      const { json } = await get('services?filter=tag:team=data', globex.admin);
      expect(json.result.map(({ name }: Json) => name)).toEqual(['foreign']);
    });
  });

  describe('of usageCost', () => {
    const read = async (filters: string[]) => {
      const { status, json, text } = await get(`usageCost?from_date=2026-10-01&to_date=2026-10-31&${toQuery(filters)}`);
      expect(status, text).toBe(200);
      return json.result;
    };
    const entities = (result: Json) => [...new Set(result.costs.map(({ entityId }: Json) => entityId))].sort();

    it.each([
      // A warehouse belongs to its first service.
      ['tag:team=sales', [orders?.id, WAREHOUSE], 3 * (1 + 4)],
      // A clickpipe belongs to its service.
      ['tag:team=data', [reports?.id, PIPE], 3 * (2 + 8)],
      ['tag:env=Test_1', [PIPE], 3 * 8],
      ['tag:team', [orders?.id, reports?.id, WAREHOUSE, PIPE], 3 * 15],
      ['tag:unknown', [], 0],
    ])('%s selects the records of these services', async (filter, ids, total) => {
      const result = await read([filter]);
      expect([entities(result), result.grandTotalCHC]).toEqual([ids.toSorted(), total]);
    });

    it('combines with service_id, which selects services and their clickpipes', async () => {
      const query = (...ids: (string | undefined)[]) => ids.map((id) => `service_id=${id}`).join('&');
      const readIds = async (rest: string) => {
        const { status, json, text } = await get(`usageCost?from_date=2026-10-01&to_date=2026-10-31&${rest}`);
        expect(status, text).toBe(200);
        return [entities(json.result), json.result.costs.length, json.result.grandTotalCHC];
      };
      expect(await readIds(query(orders?.id))).toEqual([[orders?.id], 3, 3]);
      expect(await readIds(query(reports?.id, lab?.id.toUpperCase()))).toEqual([[reports?.id, PIPE].toSorted(), 6, 30]);
      expect(await readIds(`${query(orders?.id, lab?.id)}&filter=tag:team=data`)).toEqual([[PIPE], 3, 24]);
      expect(await readIds(query(globex.id))).toEqual([[], 0, 0]);
      const { status, json } = await get('usageCost?from_date=2026-10-01&to_date=2026-10-02&service_id=x');
      expect([status, json.error]).toEqual([
        400,
        'BAD_REQUEST: query.service_id[0]: The value must be a valid uuid <string:x>',
      ]);
    });

    it('does not change the response without a filter', async () => {
      const before = await read([]);
      await read(['tag:team=sales']);
      expect(await read([])).toEqual(before);
      expect(before.grandTotalCHC).toBe(45);
    });
  });

  it.each([
    ['services?filter=name:orders', 'query.filter[0]', 'name:orders'],
    ['services?filter=tag:', 'query.filter[0]', 'tag:'],
    ['services?filter=tag:a&filter=tag:%20b', 'query.filter[1]', 'tag: b'],
    ['services?filter=tag:a=b=c', 'query.filter[0]', 'tag:a=b=c'],
    ['services?filter=', 'query.filter[0]', ''],
    [
      'usageCost?from_date=2026-10-01&to_date=2026-10-02&filter=entityType:service',
      'query.filter[0]',
      'entityType:service',
    ],
  ])('B4: rejects %s and says what is supported', async (path, place, value) => {
    const { status, json } = await get(path);
    const rule = 'The filter must be tag:Key or tag:Key=Value; keys and values have letters, digits and . _ -';
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${place}: ${rule} <string:${value}>`]);
  });

  it.each(['services?', 'usageCost?from_date=2026-10-01&to_date=2026-10-02&'])(
    'B4: %s accepts at most 50 filters of limited length',
    async (path) => {
      const filters = Array.from({ length: 51 }, (_, index) => `tag:k${index}`);
      const { status, json } = await get(path + toQuery(filters));
      expect([status, json.error]).toEqual([
        400,
        'BAD_REQUEST: query.filter: The list must have at most 50 elements <array>',
      ]);
      expect((await get(path + toQuery(filters.slice(1)))).status).toBe(200);
      const longest = `tag:${'k'.repeat(128)}=${'v'.repeat(256)}`;
      expect((await get(path + toQuery([longest]))).status).toBe(200);
      for (const filter of [`${longest}v`, `tag:${'k'.repeat(129)}`])
        expect((await get(path + toQuery([filter]))).json.error).toContain('query.filter[0]: The filter must be');
    },
  );
});
