import { expect, it, vi } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { countUnreadConnections } from '../support/process.ts';
import { isAlive, listChildren } from '../support/processes.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts a server and engines.
vi.setConfig({ testTimeout: 180_000 });

const now = Math.floor(Date.now() / 60_000) * 60_000;

onEachStoreInLongRuns('a killed engine', (store) => {
  const server = useServer(store, { inProcess: false });

  const queryLogs = (where = '') =>
    server.call({
      method: 'POST',
      path: '/api/v2/charts/series',
      token: acme.token,
      body: {
        startTime: now - 3_600_000,
        endTime: now,
        series: [{ sourceId: 'logs', aggFn: 'count', where, whereLanguage: 'sql', groupBy: [] }],
      },
    });
  const children = (): number[] => listChildren(server.pid);

  it('is not started by requests that need no data', async () => {
    for (const path of ['/api/v2/dashboards', `/api/v2/dashboards/${acme.dashboard}`, '/api/v2/sources'])
      expect((await server.call({ path, token: acme.token })).status).toBe(200);
    expect((await server.call({ path: '/readyz' })).status).toBe(200);
    expect(children()).toEqual([]);
  });

  it('fails its queries with 503 and retry-after, affects nothing else, and restarts', async () => {
    expect((await queryLogs()).status).toBe(200);
    const [pid] = children();
    expect(pid).toBeGreaterThan(0);
    // Suspended first, so that the queries are in flight when the process is killed.
    process.kill(pid as number, 'SIGSTOP');
    const inFlight = queryLogs("Body = 'in flight'");
    const columns = server.call({ path: '/api/v2/sources/logs/columns', token: acme.token });
    await until(
      async () => countUnreadConnections(pid as number),
      (count) => count >= 2,
      'the queries do not reach the engine',
    );
    expect((await server.call({ path: '/api/v2/dashboards', token: globex.token })).status).toBe(200);
    process.kill(pid as number, 'SIGKILL');
    const failed = await inFlight;
    expect(failed.status).toBe(503);
    expect(failed.json.message).toMatch(/engine/i);
    expect(Number(failed.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await columns).status).toBe(503);
    expect((await server.call({ path: '/readyz' })).status).toBe(200);
    const again = await until(
      () => queryLogs("Body = 'again'"),
      ({ status }) => status === 200,
      'the engine does not restart',
    );
    expect(again.json).toEqual({ data: [] });
    expect(children()).toHaveLength(1);
    expect(children()).not.toContain(pid);
  });

  it('stops with the server', async () => {
    await queryLogs();
    const [pid] = children();
    expect(await server.stop()).toBe(0);
    expect(isAlive(pid as number)).toBe(false);
  });
});
