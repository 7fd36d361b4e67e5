import { describe, expect, it } from 'vitest';
import { useClockedServer } from '../support/clocked-server.ts';
import { head, sendRaw } from '../support/raw.ts';
import { expectFailure } from '../support/shapes.ts';

const demo = { keyId: 'DemoKey', keySecret: 'a-demo-secret-of-some-length' };

describe.each([
  { about: 'one port', settings: {} },
  { about: 'a base path', settings: { basePath: '/tools' } },
])('the Host header of the demo, with $about', ({ settings }) => {
  const server = useClockedServer('libsql', { demo, settings, isShared: true });
  const get = (path: string, ...lines: string[]) => {
    const { pathname } = new URL(server.url);
    return sendRaw(server.url, head(`GET ${pathname.replace(/\/$/, '')}${path} HTTP/1.1`, ...lines));
  };

  it.each(['localhost', 'localhost:8080', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:8080', '[::1]', '[::1]:8080'])(
    '%s is accepted',
    async (host) => {
      const { status, json } = await get('/console/config', `Host: ${host}`);
      expect([status, json.demo]).toEqual([200, demo]);
    },
  );

  it.each([
    'rebound.example',
    'rebound.example:8080',
    'localhost.rebound.example',
    '127.0.0.1.rebound.example',
    '127.0.0.1@rebound.example',
    'localhost:80@rebound.example',
    '192.0.2.1',
    '0.0.0.0',
    '[::]',
    '[::2]:8080',
    '',
  ])('%j is rejected everywhere, and no credentials are sent', async (host) => {
    const paths = ['/console/config', '/console/session', '/v1/organizations', '/api/v2/dashboards', '/healthz'];
    for (const path of [...paths, '/metrics', '/openapi.json', '/docs', '/']) {
      const response = await get(path, `Host: ${host}`, 'Accept: text/html');
      expectFailure(path, response, 403);
      expect(response.text).toContain('Host header must be localhost, 127.0.0.1 or [::1]');
      expect(response.text).not.toContain(demo.keySecret);
    }
  });

  it('is required in HTTP/1.0 too', async () => {
    const { pathname } = new URL(server.url);
    const bytes = head(`GET ${pathname.replace(/\/$/, '')}/console/config HTTP/1.0`);
    expect((await sendRaw(server.url, bytes)).status).toBe(403);
  });
});

describe('the Host header of a server with real data', () => {
  const server = useClockedServer('libsql');

  it('can be any name: a proxy may pass it on', async () => {
    const { status, json } = await sendRaw(
      server.url,
      head('GET /console/config HTTP/1.1', 'Host: pilothouse.example'),
    );
    expect([status, json.demo]).toEqual([200, null]);
  });
});
