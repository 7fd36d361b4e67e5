import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliProcess, getServerStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { isLongRun, ROUNDS } from '../support/long-run.ts';
import { findFreePort } from '../support/postgres.ts';
import { isAlive } from '../support/processes.ts';
import { startRowLoad } from '../support/row-load.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, startServer, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

const args = ['--endpoint-ports', '0'];
const LIMIT = { timeout: isLongRun ? 3_600_000 : 600_000 };
const ROWS_PER_ROUND = isLongRun ? 50 : 20;

describe('an embedded service', () => {
  const server = useServer('libsql', { args });
  const services = useServices(server);

  it(
    'recovers by itself after its process is killed, loses no acknowledged row and stores no repeated one twice',
    LIMIT,
    async () => {
      const service = await services.create();
      const load = await startRowLoad(service, { onFailure: 'repeat' });
      for (let round = 1; round <= (isLongRun ? ROUNDS : 1); round++) {
        const before = load.countAcknowledged();
        const { pid } = (await services.untilState(service.id, 'running')).status.evidence;
        await untilRows(load, before + ROWS_PER_ROUND);
        process.kill(pid, 'SIGKILL');
        await untilRows(load, load.countAcknowledged() + ROWS_PER_ROUND);
      }
      await load.stop();
      await load.verify();
    },
  );

  it('has no row twice that was sent once, after its process is killed', LIMIT, async () => {
    const service = await services.create();
    const load = await startRowLoad(service, { onFailure: 'continue' });
    await untilRows(load, ROWS_PER_ROUND);
    process.kill((await services.read(service.id)).status.evidence.pid, 'SIGKILL');
    await untilRows(load, load.countAcknowledged() + ROWS_PER_ROUND);
    await load.stop();
    await load.verify();
  });

  it('cancels the query of a client whose connection is cut; other queries are not affected', LIMIT, async () => {
    const service = await services.create();
    const load = await startRowLoad(service);
    const countLong = async () => {
      const sql = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT max(number)%'";
      return Number((await service.query(sql)).text);
    };
    const client = new AbortController();
    const long = service.query('SELECT max(number) FROM system.numbers SETTINGS max_threads = 1', {
      signal: client.signal,
    });
    const ended = expect(long).rejects.toThrow();
    await until(countLong, (count) => count === 1, 'the query does not run');
    client.abort();
    await ended;
    await until(countLong, (count) => count === 0, 'the query still runs');
    await untilRows(load, load.countAcknowledged() + ROWS_PER_ROUND);
    await load.stop();
    expect(load.failures).toEqual([]);
    await load.verify();
  });
});

onEachStoreInLongRuns('a control plane with a running service', (store) => {
  it('takes its processes with it when it is killed, and returns with all acknowledged rows', LIMIT, async () => {
    const server = await startServer(store, { args });
    const services = useServices(server);
    try {
      const service = await services.create();
      const load = await startRowLoad(service, { onFailure: 'repeat' });
      for (let round = 1; round <= (isLongRun ? ROUNDS : 1); round++) {
        await untilRows(load, load.countAcknowledged() + ROWS_PER_ROUND);
        const { pid } = (await services.untilState(service.id, 'running')).status.evidence;
        await server.stop('SIGKILL');
        await until(
          async () => isAlive(pid),
          (alive) => !alive,
          'the process of the service is still running',
        );
        await server.restart();
        const { endpoints } = await services.untilState(service.id, 'running');
        expect(service.url).toBe(`http://${endpoints[0].host}:${endpoints[0].port}`);
      }
      await untilRows(load, load.countAcknowledged() + ROWS_PER_ROUND);
      await load.stop();
      await load.verify();
    } finally {
      await server.remove();
    }
  });
});

onEachStoreInLongRuns('a service that gets its first port after a restart', (store) => {
  it('does not get the port of another service that is started after it', LIMIT, async () => {
    const first = await findFreePort();
    const server = await startServer(store, { args: ['--endpoint-ports', `${first}-${first + 100}`] });
    const services = useServices(server);
    try {
      const service = await services.create();
      for (let round = 1; round <= (isLongRun ? 5 : 1); round++) {
        await server.stop('SIGTERM');
        // As if the server had stopped just after the service was created and placed. Services start in the order of their ids.
        const id = `00000000-0000-4000-8000-00000000000${round}`;
        const added = { id, name: `new ${round}`, driver: 'embedded' };
        const [own, ...others] = fleet.organizations;
        const changed = { organizations: [{ ...own, services: [...(own?.services ?? []), added] }, ...others] };
        const file = join(server.directory, 'fleet.json');
        writeFileSync(file, JSON.stringify(changed));
        const stores = ['--data', join(server.directory, 'data'), ...getDatabaseFlags(server)];
        expect(await cliProcess(['apply', file, ...stores])).toMatchObject({ code: 0 });
        const [row] = await runSql(server, `SELECT observed FROM services WHERE id = '${service.id}'`);
        const { placement } = JSON.parse(String(row?.observed));
        const observed = JSON.stringify({ state: 'provisioning', since: Date.now(), placement });
        await runSql(server, `UPDATE services SET observed = '${observed}' WHERE id = '${id}'`);
        await server.restart();
        const { endpoints } = await services.untilState(id, 'running');
        expect(`http://${endpoints[0].host}:${endpoints[0].port}`).not.toBe(service.url);
        await services.untilState(service.id, 'running');
        expect(await service.query('SELECT 1')).toEqual({ status: 200, text: '1' });
      }
    } finally {
      await server.remove();
    }
  });
});

onEachStoreInLongRuns('the usage of a control plane that is killed', (store) => {
  // Ten seconds until it is stored, a minute until it is sent.
  it.runIf(isLongRun)('is charged except for the last ten seconds, and once', LIMIT, async () => {
    const server = await startServer(store, { args });
    const services = useServices(server);
    const readCost = async (id: string): Promise<number> => {
      const day = new Date().toISOString().slice(0, 10);
      const path = `/v1/organizations/${acme.id}/usageCost?from_date=${day}&to_date=${day}`;
      const { costs } = (await server.call({ path, key: acme.admin })).json.result;
      return costs.find(({ entityId }: { entityId: string }) => entityId === id)?.metrics.computeCHC ?? 0;
    };
    const countStored = async () => Number((await runSql(server, 'SELECT count(*) AS n FROM usage_slices'))[0]?.n);
    try {
      const service = await services.create({ idleScaling: false });
      await until(countStored, (count) => count > 0, 'no usage is stored');
      const stored = (await runSql(server, 'SELECT document FROM usage_slices'))[0]?.document;
      await server.stop('SIGKILL');
      await server.restart();
      await services.command(service.id, 'stop');
      const { quantities } = JSON.parse(String(stored));
      expect(quantities.compute).toBeGreaterThan(0);
      await until(
        () => readCost(service.id),
        (cost) => cost > 0,
        'the usage is not charged',
      );
      await until(countStored, (count) => count === 0, 'the usage is not sent');
      const cost = await readCost(service.id);
      await server.stop('SIGTERM');
      await server.restart();
      await services.untilState(service.id, 'stopped');
      expect(await readCost(service.id)).toBe(cost);
    } finally {
      await server.remove();
    }
  });
});

describe('the endpoint of a service whose port another program uses', () => {
  const server = useServer('libsql', { args });
  const services = useServices(server);

  it(
    'makes the service degraded with the port in the reason; it can be stopped, and recovers by itself',
    LIMIT,
    async () => {
      const { id, url, query } = await services.create();
      const { port } = new URL(url);
      await server.stop();
      const other = createServer().listen(Number(port), '127.0.0.1');
      await once(other, 'listening');
      await server.restart();
      const { status } = await until(
        () => services.read(id),
        (record) => record.status.state === 'degraded',
        'the service is not degraded',
      );
      expect(status.reason).toBe(
        `The endpoint cannot be opened: port ${port} of 127.0.0.1 is in use; stop the program that uses it`,
      );
      await services.command(id, 'stop');
      await services.untilState(id, 'stopped');
      await services.command(id, 'start');
      other.close();
      await services.untilState(id, 'running');
      expect(await query('SELECT 1')).toEqual({ status: 200, text: '1' });
    },
  );
});

onEachStoreInLongRuns('a service whose data directory is missing', (store) => {
  const server = useServer(store, { args });
  const services = useServices(server);

  it(
    'is degraded with the path, answers queries with the reason, and starts empty only when asked to',
    LIMIT,
    async () => {
      const { id, query } = await services.create();
      await query('CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
      await query('INSERT INTO t VALUES (1)');
      const folder = join(server.directory, 'data/services', id);
      await server.stop();
      renameSync(folder, `${folder}-moved`);
      await server.restart();
      const { status } = await untilDegraded(services, id);
      expect(status.reason).toContain(`The data directory ${join(folder, 'data')} is missing`);
      expect(await query('SELECT count() FROM t')).toEqual({
        status: 503,
        text: expect.stringContaining('is missing'),
      });
      await services.command(id, 'stop');
      expect((await services.untilState(id, 'stopped')).status.reason).toContain('is missing');
      await services.command(id, 'start');
      await untilDegraded(services, id);
      expect(existsSync(folder)).toBe(false);
      renameSync(`${folder}-moved`, folder);
      await services.untilState(id, 'running');
      expect(await query('SELECT count() FROM t')).toEqual({ status: 200, text: '1' });

      await server.stop();
      renameSync(folder, `${folder}-moved`);
      await server.restart();
      await untilDegraded(services, id);
      const send = (body: object) => services.send('PATCH', `/${id}/state`, body);
      expect((await send({ command: 'stop', allowEmpty: true })).status).toBe(400);
      const { code, stderr } = await getServerStore(server).run('service', 'start', id, '--empty', '--org', 'Acme');
      expect([code, stderr]).toEqual([0, '']);
      await services.untilState(id, 'running');
      expect((await query('EXISTS TABLE t')).text).toBe('0');
      await query('CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
      await server.restart();
      await services.untilState(id, 'running');
      expect((await query('EXISTS TABLE t')).text).toBe('1');
      const started = (await services.listActivities(id)).find(({ activityType }) => activityType === 'service_start');
      expect(JSON.stringify(started)).toContain('allowEmpty');
    },
  );
});

const untilDegraded = (services: ReturnType<typeof useServices>, id: string) =>
  until(
    () => services.read(id),
    ({ status }) => status.state === 'degraded',
    'the service is not degraded',
  );

const hasDisk = process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('mount', ['-V']).status === 0;

describe.skipIf(!hasDisk)('a service on a full disk (needs root to mount one)', () => {
  const server = useServer('libsql', { args });
  const services = useServices(server);

  it('rejects inserts, says why it does not start, and recovers by itself', LIMIT, async () => {
    const disk = join(server.directory, 'data/services');
    mkdirSync(disk, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]);
    const file = join(disk, 'fill');
    try {
      const { id, query } = await services.create();
      await query('CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
      await query('INSERT INTO t VALUES (1)');
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(file, Buffer.alloc(bavail * bsize));
      expect((await query('INSERT INTO t VALUES (2)')).status).toBe(500);
      expect(await query('SELECT a FROM t')).toEqual({ status: 200, text: '1' });
      process.kill((await services.read(id)).status.evidence.pid, 'SIGKILL');
      const { status } = await until(
        () => services.read(id),
        (record) => record.status.state === 'degraded' && /no space left/i.test(record.status.reason),
        'the reason is not reported',
      );
      expect(status.desiredState).toBe('running');
      rmSync(file);
      await services.untilState(id, 'running');
      await query('INSERT INTO t VALUES (3)');
      expect((await query('SELECT arraySort(groupArray(a)) FROM t')).text).toBe('[1,3]');
      await services.command(id, 'stop');
      await services.untilState(id, 'stopped');
    } finally {
      execFileSync('umount', ['--lazy', disk]);
    }
  });
});

const getDatabaseFlags = ({ databaseUrl }: { databaseUrl: string | undefined }): string[] =>
  databaseUrl === undefined ? [] : ['--database-url', databaseUrl];

const untilRows = (load: { countAcknowledged(): number }, count: number): Promise<number> =>
  until(
    async () => load.countAcknowledged(),
    (acknowledged) => acknowledged >= count,
    `${count} rows are not acknowledged`,
  );
