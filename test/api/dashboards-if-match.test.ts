import { expect, it } from 'vitest';
import { createDashboard, read, tile, write } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('If-Match', (store) => {
  const server = useServer(store, { sharedEngine: true });
  const put = (id: string, name: string, ifMatch?: string) =>
    write(server, 'PUT', `/${id}`, { name }, { headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } });

  it('accepts a change of the current version and returns the next etag', async () => {
    const { data, etag } = await createDashboard(server, { name: 'a' });
    const first = await put(data.id, 'b', etag);
    expect(first.status).toBe(200);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).not.toBe(etag);
    expect((await read(server, `/${data.id}`)).headers.get('etag')).toBe(tag);
    expect((await put(data.id, 'c', tag)).status).toBe(200);
  });

  it('rejects a stale etag with 412; without the header the last write wins', async () => {
    const { data, etag } = await createDashboard(server, { name: 'a' });
    await put(data.id, 'b');
    for (const stale of [etag, '"nonsense"', '""', 'nonsense', `${etag}, W/"other"`]) {
      const { status, json } = await put(data.id, 'c', stale);
      expect([status, json]).toEqual([412, { message: expect.stringContaining('If-Match') }]);
      const deleted = await write(server, 'DELETE', `/${data.id}`, undefined, { headers: { 'if-match': stale } });
      expect(deleted.status).toBe(412);
    }
    expect((await read(server, `/${data.id}`)).json.data.name).toBe('b');
    expect((await put(data.id, 'd')).status).toBe(200);
  });

  it('accepts a list, *, a weak etag and the etag of a compressed response', async () => {
    const tiles = Array.from({ length: 20 }, (_, y) => tile({ id: `t${y}`, y }));
    const { data } = await createDashboard(server, { name: 'large', tiles });
    let name = 0;
    for (const encoding of ['identity', 'gzip', 'br']) {
      for (const form of ['TAG', 'W/TAG', '"x", TAG', '*']) {
        const response = await read(server, `/${data.id}`, { 'accept-encoding': encoding });
        const header = form.replace('TAG', response.headers.get('etag') ?? '');
        const body = { ...response.json.data, name: `n${name++}` };
        const { status } = await write(server, 'PUT', `/${data.id}`, body, { headers: { 'if-match': header } });
        expect(status, `${encoding} ${header}`).toBe(200);
      }
    }
    const { headers } = await read(server, `/${data.id}`);
    const deleted = await write(server, 'DELETE', `/${data.id}`, undefined, {
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
    expect(deleted.status).toBe(200);
  });

  it('returns 404 for an unknown dashboard, even with If-Match', async () => {
    expect((await put('f'.repeat(24), 'x', '*')).status).toBe(404);
  });

  it('accepts exactly one of many concurrent changes, even across two nodes', async () => {
    const second = await startSecondServer(server);
    try {
      const { data, etag } = await createDashboard(server, { name: 'contested' });
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? server : second).call({
            method: 'PUT',
            path: `/api/v2/dashboards/${data.id}`,
            token: acme.writer,
            body: { name: `winner ${index}` },
            headers: { 'if-match': etag },
          }),
        ),
      );
      const winners = responses.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect(responses.filter(({ status }) => status === 412)).toHaveLength(19);
      expect((await read(server, `/${data.id}`)).json).toEqual(winners[0]?.json);
      expect((await read(server, `/${data.id}/versions`)).json.data).toHaveLength(2);
    } finally {
      await second.stop();
    }
  });

  it('makes a change on one node visible to the next read on another', async () => {
    const second = await startSecondServer(server);
    try {
      const { data } = await createDashboard(server, { name: 'node' });
      for (const name of ['one', 'two', 'three']) {
        await put(data.id, name);
        for (const node of [second, server]) {
          const { json } = await node.call({ path: `/api/v2/dashboards/${data.id}`, token: acme.token });
          expect(json.data.name).toBe(name);
          const list = await node.call({ path: '/api/v2/dashboards', token: acme.token });
          expect(list.json.data).toContainEqual(json.data);
        }
      }
    } finally {
      await second.stop();
    }
  });
});
