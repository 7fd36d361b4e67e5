import { describe, expect, it } from 'vitest';
import { cli, listErrors } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const TOKEN = 'scraper-token-of-some-length';

onEachStoreInLongRuns('a metrics token', (store) => {
  const server = useServer(store, {
    inProcess: false,
    args: ['--dashboard-port', '0'],
    environment: { PILOTHOUSE_METRICS_TOKEN: TOKEN },
  });
  const read = (headers: Record<string, string> = {}, url = server.url) => fetch(`${url}/metrics`, { headers });

  it('is required by /metrics on every port, as a bearer token', async () => {
    for (const url of [server.url, server.dashboardUrl]) {
      const accepted = await read({ authorization: `bearer ${TOKEN}` }, url);
      expect(accepted.status).toBe(200);
      expect(await accepted.text()).toContain('pilothouse_requests_total');
      const basic = Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64');
      const rejected = [
        {},
        { authorization: TOKEN },
        { authorization: `Bearer ${TOKEN}x` },
        { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
        { authorization: `Bearer ${TOKEN} x` },
        { authorization: `Bearer ${acme.token}` },
        { authorization: `Basic ${basic}` },
      ];
      for (const headers of rejected) {
        const response = await read(headers as Record<string, string>, url);
        const text = await response.text();
        expect(response.status, JSON.stringify(headers)).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pilothouse metrics"');
        expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
        expect(text).toContain('--metrics-token');
      }
    }
  });

  it('is not required by the health checks, and is no credential of the APIs', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await server.call({ path })).status).toBe(200);
    expect((await server.call({ path: '/api/v2/dashboards', token: TOKEN })).status).toBe(401);
  });

  it('does not appear in the log', () => {
    expect(server.log()).not.toContain(TOKEN);
  });
});

describe('--metrics-token', () => {
  it.each(['short', 'with a space in the middle', 'ümlaut-in-the-token'])(
    'rejects %j without printing it',
    async (text) => {
      const finished = await cli(['serve', '--metrics-token', text]);
      expect(finished.code).toBe(2);
      expect(listErrors(finished)).toEqual(['--metrics-token must have 16 to 1024 visible ASCII characters']);
    },
  );
});
