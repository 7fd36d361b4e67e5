import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createDashboard, DASHBOARDS, read, tile, write } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const large = {
  name: 'large',
  tiles: Array.from({ length: 24 }, (_, y) => tile({ id: `t${y}`, name: `Tile ${y}`, y })),
};

onEachStoreInLongRuns('compressed dashboards', (store) => {
  const server = useServer(store);

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['identity', null],
    ['deflate', null],
    ['gzip;q=0', null],
    ['identity, gzip;q=0.5', null],
    ['', null],
  ])('D2: accept-encoding %j returns %j and the same dashboard', async (accepted, encoding) => {
    const { data } = await createDashboard(server, large);
    for (const path of ['', `/${data.id}`]) {
      const { status, headers, json } = await read(server, path, { 'accept-encoding': accepted });
      expect([status, headers.get('content-encoding'), headers.get('vary')]).toEqual([
        200,
        encoding,
        'accept-encoding',
      ]);
      expect(json.data).toEqual(path === '' ? expect.arrayContaining([data]) : data);
    }
    await write(server, 'DELETE', `/${data.id}`);
  });

  it('D2: each encoding has its own etag, and any of them returns 304 in every encoding', async () => {
    const { data } = await createDashboard(server, large);
    const encodings = ['identity', 'gzip', 'br'];
    const tags: string[] = [];
    for (const encoding of encodings)
      tags.push((await read(server, `/${data.id}`, { 'accept-encoding': encoding })).headers.get('etag') ?? '');
    expect(new Set(tags).size).toBe(3);
    for (const [index, encoding] of encodings.entries()) {
      for (const known of [...tags, `W/${tags[0]}`, `"x", ${tags[1]}`, '*']) {
        const cached = await read(server, `/${data.id}`, { 'accept-encoding': encoding, 'if-none-match': known });
        expect([cached.status, cached.text, cached.headers.get('etag')]).toEqual([304, '', tags[index]]);
        expect(cached.headers.get('vary')).toBe('accept-encoding');
      }
    }
    await write(server, 'PUT', `/${data.id}`, { ...data, name: 'other' });
    for (const [index, encoding] of encodings.entries()) {
      const known = { 'accept-encoding': encoding, 'if-none-match': tags[index] ?? '' };
      expect((await read(server, `/${data.id}`, known)).status).toBe(200);
    }
  });

  it('a short response is not compressed', async () => {
    const { data } = await createDashboard(server, { name: 'short' });
    const { headers, json } = await read(server, `/${data.id}`, { 'accept-encoding': 'br, gzip' });
    expect([headers.get('content-encoding'), json.data]).toEqual([null, data]);
  });

  it('content-length and content-encoding match the body, and HEAD returns the same', async () => {
    const { data } = await createDashboard(server, large);
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const send = (method: string) => plainRequest(`${server.dashboardUrl}${DASHBOARDS}/${data.id}`, method, encoding);
      const [got, head] = [await send('GET'), await send('HEAD')];
      expect(got.headers['content-encoding']).toBe(encoding);
      expect(got.bytes.length).toBe(Number(got.headers['content-length']));
      expect(JSON.parse(decode(got.bytes).toString('utf8')).data).toEqual(data);
      expect([head.status, head.bytes.length, head.headers.etag]).toEqual([200, 0, got.headers.etag]);
    }
  });

  it('the log and the metrics include these responses', async () => {
    const { headers } = await read(server, `/${acme.dashboard}`);
    await read(server, `/${acme.dashboard}`, { 'if-none-match': headers.get('etag') ?? '' });
    const { text } = await server.call({ path: '/metrics' });
    for (const status of [200, 304])
      expect(text).toMatch(
        new RegExp(`pilothouse_requests_total\\{operation="getDashboard",status="${status}"\\} [1-9]`),
      );
  });
});

/** Returns the raw bytes, which `fetch` would decode. */
function plainRequest(
  url: string,
  method: string,
  encoding: string,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${acme.token}`, 'accept-encoding': encoding };
    request(url, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(pieces) }),
      );
    })
      .on('error', reject)
      .end();
  });
}
