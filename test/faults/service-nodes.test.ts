import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createClient } from '../support/client.ts';
import { isLongRun } from '../support/long-run.ts';
import { isAlive, sendSignal } from '../support/processes.ts';
import { type RunningService, useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, run, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const args = ['--endpoint-ports', '0'];
const LIMIT = { timeout: 600_000 };

/** A node with the store and the data directory of the first, as with a shared volume. */
async function startPeer({ directory, databaseUrl, args: given }: TestServer) {
  const store = ['--data', join(directory, 'data'), ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
  const running = await run(['serve', '--port', '0', '--rate-limit', '1000000/10s', ...store, ...given]);
  return { ...running, services: useServices({ call: createClient(() => running) }) };
}

type Services = ReturnType<typeof useServices>;

const untilRestarted = (services: Services, id: string, pid: number) =>
  until(
    () => services.read(id),
    ({ status }) => status.state === 'running' && status.inFlight === undefined && status.evidence.pid !== pid,
    'the other node does not run the service',
  );

async function fill({ query }: RunningService): Promise<void> {
  await query('CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x');
  await query('INSERT INTO t VALUES (7)');
}

onEachStoreInLongRuns('two nodes on one data directory', (store) => {
  it(
    'one runs the service; the other takes over with its port and rows after a stop and after kill -9',
    LIMIT,
    async () => {
      const first = await startServer(store, { args, sharedEngine: true });
      const peers = [await startPeer(first)];
      try {
        const services = useServices(first);
        const service = await services.create();
        await fill(service);
        const other = peers[0]?.services ?? expect.fail('no peer');
        expect(await other.read(service.id)).toMatchObject({ state: 'running' });
        expect((await other.readIdle(service.id)).blockers).toEqual([
          { type: 'driver', detail: 'Another node is responsible for the service' },
        ]);
        const elsewhere = await other.send('POST', `/${service.id}/sql/read`, { sql: 'SELECT 1' });
        expect([elsewhere.status, elsewhere.json.error]).toEqual([
          503,
          expect.stringMatching(/another node runs real \(its endpoint is 127\.0\.0\.1:\d+\); send .* to that node$/),
        ]);
        let { pid } = (await services.read(service.id)).status.evidence;
        expect(await first.stop('SIGTERM')).toBe(0);
        ({ pid } = (await untilRestarted(other, service.id, pid)).status.evidence);
        expect(await service.query('SELECT x FROM t')).toEqual({ status: 200, text: '7' });
        const third = await startPeer(first);
        peers.push(third);
        await peers[0]?.stop('SIGKILL');
        await untilRestarted(third.services, service.id, pid);
        expect(await service.query('SELECT x FROM t')).toEqual({ status: 200, text: '7' });
      } finally {
        for (const peer of peers) await peer.stop();
        await first.remove();
      }
    },
  );

  // The lease of the suspended node expires after ten seconds.
  it.runIf(isLongRun)(
    'a node that was suspended ends its process and leaves the service to the other',
    LIMIT,
    async () => {
      const first = await startServer(store, { args, sharedEngine: true });
      const peer = await startPeer(first);
      try {
        const services = useServices(first);
        const service = await services.create();
        await fill(service);
        const { pid } = (await services.read(service.id)).status.evidence;
        process.kill(first.pid, 'SIGSTOP');
        const { status } = await until(
          () => peer.services.read(service.id),
          (record) => record.status.state === 'degraded',
          'the other node does not take over',
        );
        expect(status.reason).toMatch(/port \d+ of 127\.0\.0\.1 is in use/);
        process.kill(first.pid, 'SIGCONT');
        await untilRestarted(peer.services, service.id, pid);
        expect(isAlive(pid)).toBe(false);
        expect(await service.query('SELECT x FROM t')).toEqual({ status: 200, text: '7' });
        expect((await services.readIdle(service.id)).blockers).toEqual([
          { type: 'driver', detail: 'Another node is responsible for the service' },
        ]);
      } finally {
        sendSignal(first.pid, 'SIGCONT');
        await peer.stop();
        await first.remove();
      }
    },
  );
});
