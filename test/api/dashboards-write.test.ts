import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { createDashboard, DASHBOARDS, HEX_ID, markdown, read, tile, write } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const UNKNOWN = 'f'.repeat(24);

onEachStore('writing dashboards', (store) => {
  const server = useServer(store);
  const listActivities = async (): Promise<Json[]> =>
    (await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=1000`, key: acme.admin })).json.result;

  it('D1, D3: POST returns 200 with the whole dashboard and generated ids of 24 hex characters', async () => {
    const body = { id: 'mine', name: 'new', tags: ['b', 'a', 'b'], tiles: [tile(), tile({ id: 'kept', name: 'T' })] };
    const { data, etag } = await createDashboard(server, body);
    expect(data).toEqual({
      id: expect.stringMatching(HEX_ID),
      name: 'new',
      tags: ['b', 'a'],
      tiles: [
        {
          ...tile(),
          id: expect.stringMatching(HEX_ID),
          name: '',
          asRatio: false,
          series: [{ type: 'time', aggFn: 'count', where: '', whereLanguage: 'lucene', groupBy: [] }],
        },
        expect.objectContaining({ id: 'kept', name: 'T' }),
      ],
    });
    const found = await read(server, `/${data.id}`, { 'accept-encoding': 'identity' });
    expect([found.json.data, found.headers.get('etag')]).toEqual([data, etag]);
    expect((await read(server, '')).json.data).toContainEqual(data);
  });

  it('D4: two dashboards with the same body have different ids, including tile ids', async () => {
    const body = { name: 'twin', tiles: [tile(), tile()] };
    const [one, other] = [(await createDashboard(server, body)).data, (await createDashboard(server, body)).data];
    const ids = [one, other].flatMap(({ id, tiles }) => [id, ...tiles.map((each: Json) => each.id)]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('PUT replaces the whole dashboard, keeps given tile ids and generates the others', async () => {
    const { data } = await createDashboard(server, { name: 'old', tags: ['x'], tiles: [tile({ id: 'a' }), tile()] });
    const body = { name: 'newer', tiles: [tile(), { ...data.tiles[1], name: 'second' }, tile({ id: 'mine' })] };
    const { status, json } = await write(server, 'PUT', `/${data.id}`, body);
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ id: data.id, name: 'newer', tags: [] });
    const [first, second, third] = json.data.tiles;
    expect([second.id, second.name, third.id]).toEqual([data.tiles[1].id, 'second', 'mine']);
    expect(first.id).toMatch(HEX_ID);
    expect(data.tiles.map(({ id }: Json) => id)).not.toContain(first.id);
    expect((await read(server, `/${data.id}`)).json).toEqual(json);
  });

  it('POST → GET → PUT changes nothing: no new version, no audit log entry', async () => {
    const { data, etag } = await createDashboard(server, { name: 'same', tiles: [tile({ series: [markdown] })] });
    const before = await listActivities();
    const again = await write(server, 'PUT', `/${data.id}`, (await read(server, `/${data.id}`)).json.data);
    expect([again.status, again.json.data, again.headers.get('etag')]).toEqual([200, data, etag]);
    expect((await read(server, `/${data.id}/versions`)).json.data).toHaveLength(1);
    expect(await listActivities()).toEqual(before);
  });

  it('D1: DELETE returns 200 and {}, and 404 for a deleted or unknown dashboard', async () => {
    const { data } = await createDashboard(server, { name: 'short-lived' });
    const deleted = await write(server, 'DELETE', `/${data.id}`);
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    for (const id of [data.id, UNKNOWN, 'a b', 'x'.repeat(65)]) {
      for (const [method, body] of [['DELETE'], ['PUT', { name: 'x' }], ['GET']] as const) {
        const { status, json } = await write(server, method, `/${encodeURIComponent(id)}`, body);
        expect([status, json]).toEqual([404, { message: 'Dashboard not found' }]);
      }
    }
    expect((await read(server, '')).text).not.toContain(data.id);
  });

  it.each<[string, Json, string[]]>([
    ['no name', {}, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['a name that is too long', { name: 'x'.repeat(1025) }, ['name']],
    ['a list instead of a name', { name: ['x'] }, ['name']],
    ['a tag that is too long', { name: 'x', tags: ['ok', 'x'.repeat(33)] }, ['tags.1']],
    ['51 tags', { name: 'x', tags: Array.from({ length: 51 }, String) }, ['tags']],
    ['501 tiles', { name: 'x', tiles: Array.from({ length: 501 }, () => tile()) }, ['tiles']],
    [
      'a tile without a position',
      { name: 'x', tiles: [{ series: [markdown] }] },
      ['tiles.0.x', 'tiles.0.y', 'tiles.0.w', 'tiles.0.h'],
    ],
    ['a fractional column', { name: 'x', tiles: [tile({ x: 1.5 })] }, ['tiles.0.x']],
    ['a tile outside the grid', { name: 'x', tiles: [tile({ x: 13 })] }, ['tiles.0.w']],
    ['no series', { name: 'x', tiles: [tile({ series: [] })] }, ['tiles.0.series']],
    [
      '21 series',
      { name: 'x', tiles: [tile({ series: Array.from({ length: 21 }, () => markdown) })] },
      ['tiles.0.series'],
    ],
    [
      'series of two types',
      { name: 'x', tiles: [tile({ series: [markdown, { type: 'time', aggFn: 'count' }] })] },
      ['tiles.0.series'],
    ],
    ['an unknown type', { name: 'x', tiles: [tile({ series: [{ type: 'donut' }] })] }, ['tiles.0.series.0.type']],
    ['no aggFn', { name: 'x', tiles: [tile({ series: [{ type: 'number' }] })] }, ['tiles.0.series.0.aggFn']],
    ['no content', { name: 'x', tiles: [tile({ series: [{ type: 'markdown' }] })] }, ['tiles.0.series.0.content']],
    ['no fields', { name: 'x', tiles: [tile({ series: [{ type: 'search' }] })] }, ['tiles.0.series.0.fields']],
    [
      'no level',
      { name: 'x', tiles: [tile({ series: [{ type: 'time', aggFn: 'quantile' }] })] },
      ['tiles.0.series.0.level'],
    ],
    ['duplicate tile ids', { name: 'x', tiles: [tile({ id: 'a' }), tile({ id: 'a' })] }, ['tiles.1.id']],
    ['a tile id that is too long', { name: 'x', tiles: [tile({ id: 'x'.repeat(37) })] }, ['tiles.0.id']],
    ['a NUL character', { name: 'x\u0000' }, ['name']],
  ])('D1, D6: %s returns 400 with its path, and nothing is stored', async (_, body, paths) => {
    const before = (await read(server, '')).json;
    const { data } = before as { data: Json[] };
    for (const [method, suffix] of [
      ['POST', ''],
      ['PUT', `/${acme.dashboard}`],
    ] as const) {
      const { status, json } = await write(server, method, suffix, body);
      expect(status).toBe(400);
      expect(json.errors.map(({ path }: Json) => path)).toEqual(paths);
      expect(json.message).toMatch(new RegExp(`^Body validation failed: ${paths[0]}: \\S`));
    }
    const validated = await write(server, 'POST', '/validate', body);
    expect([validated.status, validated.json.valid, validated.json.normalized]).toEqual([200, false, null]);
    expect(validated.json.errors.map(({ path }: Json) => path)).toEqual(paths);
    expect((await read(server, '')).json.data).toEqual(data);
  });

  it('D6: accepts values exactly at their limits', async () => {
    const body = {
      name: '😀'.repeat(1024),
      tags: Array.from({ length: 50 }, (_, index) => String(index).padEnd(32, 'x')),
      tiles: Array.from({ length: 500 }, (_, y) =>
        tile({ id: `${y}`.padEnd(36, 'i'), x: 23, y, w: 1, h: 1, series: [markdown] }),
      ),
    };
    const { data } = await createDashboard(server, body);
    expect([data.tags.length, data.tiles.length]).toEqual([50, 500]);
    expect((await read(server, `/${data.id}`)).json.data).toEqual(data);
    await write(server, 'DELETE', `/${data.id}`);
  });

  it('D5: returns 400 with all unknown sources, including sources of another organization', async () => {
    const at = (sourceId: string) => ({ type: 'time', aggFn: 'count', sourceId });
    const body = {
      name: 'x',
      tiles: [tile({ series: [at('logs'), at('nope')] }), tile({ series: [at(globex.dashboard), at('nope')] })],
    };
    for (const [method, suffix] of [
      ['POST', ''],
      ['PUT', `/${acme.dashboard}`],
    ] as const) {
      const { status, json } = await write(server, method, suffix, body);
      expect([status, json.message]).toEqual([
        400,
        `Could not find the following source IDs: nope, ${globex.dashboard}`,
      ]);
      expect(json.errors.map(({ path }: Json) => path)).toEqual([
        'tiles.0.series.1.sourceId',
        'tiles.1.series.0.sourceId',
        'tiles.1.series.1.sourceId',
      ]);
    }
    expect((await write(server, 'PUT', `/${UNKNOWN}`, body)).status).toBe(404);
    const known = { name: 'x', tiles: [tile({ series: ['logs', 'traces', 'metrics', acme.dashboard].map(at) })] };
    await createDashboard(server, known);
  });

  it('validate returns the normalized body, stores nothing and requires only read access', async () => {
    const before = (await read(server, '')).json;
    const body = { name: 'x', tags: ['a', 'a'], tiles: [tile(), tile({ id: 'mine' })], more: 1 };
    const { status, json } = await server.call({
      method: 'POST',
      path: `${DASHBOARDS}/validate`,
      token: acme.token,
      body,
    });
    expect([status, json.valid, json.errors]).toEqual([200, true, []]);
    expect(json.normalized).toMatchObject({ name: 'x', tags: ['a'], tiles: [{ asRatio: false }, { id: 'mine' }] });
    expect(Object.keys(json.normalized)).toEqual(['name', 'tags', 'tiles']);
    expect(json.normalized.tiles[0]).not.toHaveProperty('id');
    expect((await read(server, '')).json).toEqual(before);
    const list = await write(server, 'POST', '/validate', ['x']);
    expect([list.status, list.json.valid]).toEqual([200, false]);
    const wrong = await write(server, 'POST', '/validate', undefined, {
      text: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(wrong.status).toBe(400);
  });

  it('R2: a read-only token cannot change anything, and the error names the required access', async () => {
    const before = (await read(server, '')).json;
    for (const [method, suffix, body] of [
      ['POST', '', { name: 'x' }],
      ['POST', '', {}],
      ['PUT', `/${acme.dashboard}`, { name: 'x' }],
      ['DELETE', `/${acme.dashboard}`],
      ['POST', `/${acme.dashboard}/versions/1/restore`],
      ['DELETE', `/${UNKNOWN}`],
    ] as const) {
      const { status, json } = await write(server, method, suffix, body, { token: acme.token });
      expect([status, json]).toEqual([403, { message: expect.stringContaining('needs a read-write token') }]);
    }
    expect((await read(server, '')).json).toEqual(before);
  });

  it('R2: a token can only change its own organization', async () => {
    const readForeign = () => server.call({ path: `${DASHBOARDS}/${globex.dashboard}`, token: globex.token });
    const before = await readForeign();
    for (const [method, body] of [['PUT', { name: 'mine now' }], ['DELETE']] as const) {
      const { status, json } = await write(server, method, `/${globex.dashboard}`, body);
      expect([status, json]).toEqual([404, { message: 'Dashboard not found' }]);
    }
    expect((await readForeign()).json).toEqual(before.json);
  });

  it('B6: every change is in the audit log with actor and version, without the whole dashboard', async () => {
    const before = (await listActivities()).length;
    const { data } = await createDashboard(server, { name: 'audited', tags: ['t'], tiles: [tile()] });
    await write(server, 'PUT', `/${data.id}`, { name: 'audited', tags: ['t'], tiles: [tile({ id: 'other' })] });
    await write(server, 'DELETE', `/${data.id}`);
    const added = (await listActivities()).slice(0, -before || undefined);
    const known = { actorType: 'api', actorDetails: 'editor', resourceType: 'dashboard', resourceId: data.id };
    expect(added).toEqual([
      expect.objectContaining({
        ...known,
        activityType: 'dashboard_delete',
        before: { name: 'audited', tags: ['t'], tiles: 1, version: 2 },
      }),
      expect.objectContaining({
        ...known,
        activityType: 'dashboard_update',
        before: { version: 1 },
        after: { version: 2 },
      }),
      expect.objectContaining({
        ...known,
        activityType: 'dashboard_create',
        after: { name: 'audited', tags: ['t'], tiles: 1, version: 1 },
      }),
    ]);
  });

  it('B4: null for an optional member is the same as omitting it', async () => {
    const { data } = await createDashboard(server, {
      name: 'x',
      tags: null,
      tiles: [tile({ id: null, name: null, asRatio: null })],
    });
    expect([data.tags, data.tiles[0].name, data.tiles[0].asRatio]).toEqual([[], '', false]);
  });
});
