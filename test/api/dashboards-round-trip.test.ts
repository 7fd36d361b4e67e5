import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyDashboard, createDashboard, read, write } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('any dashboard', (store) => {
  const server = useServer(store);

  it('is returned as it was sent, and PUT of a response changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyDashboard, async (body) => {
        const { data, etag } = await createDashboard(server, body);
        expect(data.name).toBe(body.name);
        expect(data.tags).toEqual([...new Set(body.tags)]);
        expect(data.tiles).toMatchObject(body.tiles ?? []);
        const first = await read(server, `/${data.id}`, { 'accept-encoding': 'identity' });
        expect([first.json.data, first.headers.get('etag')]).toEqual([data, etag]);
        const again = await write(server, 'PUT', `/${data.id}`, first.json.data, { headers: { 'if-match': etag } });
        expect([again.status, again.text]).toEqual([200, first.text]);
        expect((await read(server, `/${data.id}/versions`)).json.data).toHaveLength(1);
        const { normalized } = (await write(server, 'POST', '/validate', data)).json;
        expect({ id: data.id, ...normalized }).toEqual(data);
        await write(server, 'DELETE', `/${data.id}`);
      }),
      { numRuns: isLongRun ? 40 : 10 },
    );
  });

  it('can be replaced and restored byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(anyDashboard, anyDashboard, async (one, other) => {
        const { data } = await createDashboard(server, one);
        const before = await read(server, `/${data.id}`);
        await write(server, 'PUT', `/${data.id}`, other);
        await write(server, 'DELETE', `/${data.id}`);
        await write(server, 'POST', `/${data.id}/versions/1/restore`);
        expect((await read(server, `/${data.id}`)).text).toBe(before.text);
        await write(server, 'DELETE', `/${data.id}`);
      }),
      { numRuns: isLongRun ? 15 : 5 },
    );
    expect((await read(server, '')).json.data.map(({ id }: { id: string }) => id)).toEqual([acme.dashboard]);
  });
});
