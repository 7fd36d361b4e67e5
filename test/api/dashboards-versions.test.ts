import { expect, it } from 'vitest';
import { createDashboard, read, tile, write } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('dashboard versions', (store) => {
  const server = useServer(store);
  const versions = async (id: string) => (await read(server, `/${id}/versions`)).json.data;

  it('lists all versions, newest first, with time, actor, name and number of tiles', async () => {
    const { data } = await createDashboard(server, { name: 'first' });
    await write(server, 'PUT', `/${data.id}`, { name: 'second', tiles: [tile(), tile()] });
    const record = { savedAt: expect.stringMatching(/^20\d\d-.*Z$/), savedBy: 'editor' };
    expect(await versions(data.id)).toEqual([
      { ...record, version: 2, name: 'second', tiles: 2 },
      { ...record, version: 1, name: 'first', tiles: 0 },
    ]);
  });

  it('returns a whole version', async () => {
    const { data } = await createDashboard(server, { name: 'whole', tags: ['t'], tiles: [tile({ id: 'x' })] });
    await write(server, 'PUT', `/${data.id}`, { name: 'other' });
    const { status, json } = await read(server, `/${data.id}/versions/1`);
    expect([status, json.data.version, json.data.dashboard]).toEqual([200, 1, data]);
  });

  it('a dashboard of the fleet file has a version too', async () => {
    const [only, ...more] = await versions(acme.dashboard);
    expect([only.version, only.tiles, more]).toEqual([1, 1, []]);
    expect(only.savedBy).toMatch(/^pilothouse fleet/);
  });

  it('restores a version as the newest and keeps the others', async () => {
    const { data, etag } = await createDashboard(server, { name: 'good', tiles: [tile()] });
    await write(server, 'PUT', `/${data.id}`, { name: 'bad' });
    const restored = await write(server, 'POST', `/${data.id}/versions/1/restore`);
    expect([restored.status, restored.json.data, restored.headers.get('etag')]).toEqual([200, data, etag]);
    expect((await read(server, `/${data.id}`)).json.data).toEqual(data);
    expect(
      (await versions(data.id)).map(({ version, name }: { version: number; name: string }) => [version, name]),
    ).toEqual([
      [3, 'good'],
      [2, 'bad'],
      [1, 'good'],
    ]);
  });

  it('restoring the current version changes nothing', async () => {
    const { data } = await createDashboard(server, { name: 'same' });
    expect((await write(server, 'POST', `/${data.id}/versions/1/restore`)).status).toBe(200);
    expect(await versions(data.id)).toHaveLength(1);
  });

  it('restores a deleted dashboard with its id', async () => {
    const { data } = await createDashboard(server, { name: 'lost', tiles: [tile()] });
    await write(server, 'DELETE', `/${data.id}`);
    expect(await versions(data.id)).toHaveLength(1);
    expect((await read(server, `/${data.id}/versions/1`)).json.data.dashboard).toEqual(data);
    expect((await write(server, 'POST', `/${data.id}/versions/1/restore`)).json.data).toEqual(data);
    expect((await read(server, '')).json.data).toContainEqual(data);
    expect((await versions(data.id))[0].version).toBe(2);
  });

  it('supports If-Match', async () => {
    const { data, etag } = await createDashboard(server, { name: 'a' });
    await write(server, 'PUT', `/${data.id}`, { name: 'b' });
    const restore = (ifMatch: string) =>
      write(server, 'POST', `/${data.id}/versions/1/restore`, undefined, { headers: { 'if-match': ifMatch } });
    expect((await restore(etag)).status).toBe(412);
    expect((await restore((await read(server, `/${data.id}`)).headers.get('etag') ?? '')).status).toBe(200);
    await write(server, 'DELETE', `/${data.id}`);
    expect((await restore('*')).status).toBe(412);
  });

  it.each(['9', '0', '-1', '1.0', '01', 'x', '99999999999', '1e3', '%00'])(
    'version %s is not found',
    async (version) => {
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/restore'],
      ] as const) {
        const { status, json } = await write(server, method, `/${acme.dashboard}/versions/${version}${suffix}`);
        expect([status, json]).toEqual([404, { message: 'Version not found' }]);
      }
    },
  );

  it('versions of another organization are not found', async () => {
    for (const id of [globex.dashboard, 'f'.repeat(24), 'a%20b']) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['GET', '/1'],
        ['POST', '/1/restore'],
      ] as const) {
        const { status, json } = await write(server, method, `/${id}/versions${suffix}`);
        expect([status, json]).toEqual([404, { message: 'Dashboard not found' }]);
      }
    }
  });
});
