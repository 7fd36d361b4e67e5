import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { query, useServices } from '../support/running-service.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

onEachStore('an embedded service', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'] });
  const services = useServices(server);

  it('is a ClickHouse that answers at its endpoint, with its password only', async () => {
    const { id, url, password, query: run } = await services.create();
    expect(await services.read(id)).toMatchObject({
      driver: 'embedded',
      state: 'running',
      clickhouseVersion: expect.stringMatching(/^\d+\.\d+/),
      endpoints: [{ protocol: 'http', host: '127.0.0.1', username: 'default' }],
      status: {
        desiredState: 'running',
        requested: { replicas: 3, replicaMemoryGb: 16 },
        observed: { replicas: 1, replicaMemoryGb: 16 },
        evidence: { memoryLimitMiB: 1024 },
      },
    });
    expect(await run('SELECT 20 + 1')).toEqual({ status: 200, text: '21' });
    expect(await query(url, `${password}x`, 'SELECT 1')).toMatchObject({ status: 401 });
    expect(await (await fetch(`${url}/ping`)).text()).toBe('Ok.\n');
  });

  it('gets a new size without a failed query, and keeps its rows', async () => {
    const { id, query: run } = await services.create();
    await run('CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x');
    await run('INSERT INTO t SELECT number FROM numbers(1000)');
    const changed = await services.send('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 24 });
    expect(changed.json.result).toMatchObject({ minReplicaMemoryGb: 24, state: 'running' });
    const answers = [];
    do answers.push(await run('SELECT count() FROM t'));
    while ((await services.read(id)).status.observed.replicaMemoryGb !== 24);
    answers.push(await run('SELECT count() FROM t'));
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['1000']));
    expect(await services.untilState(id, 'running')).toMatchObject({ status: { evidence: { memoryLimitMiB: 1536 } } });
  });

  it('stops, refuses queries, starts again and is deleted with its data', async () => {
    const { id, query: run } = await services.create();
    expect((await services.command(id, 'stop')).json.result.state).toBe('stopping');
    await services.untilState(id, 'stopped');
    const refused = await run('SELECT 1');
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('The service is stopped; start it to run queries');
    await services.command(id, 'start');
    expect(await run('SELECT 2')).toEqual({ status: 200, text: '2' });
    expect((await services.send('DELETE', `/${id}`)).status).toBe(409);
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    const folder = join(server.directory, 'data/services', id);
    expect(existsSync(folder)).toBe(true);
    expect((await services.send('DELETE', `/${id}`)).status).toBe(200);
    await until(
      async () => existsSync(folder),
      (exists) => !exists,
      'the data is not removed',
    );
    await expect(run('SELECT 1')).rejects.toThrow();
  });

  it('returns with its port and its rows when the server restarts', async () => {
    const { id, query: run } = await services.create();
    await run('CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x');
    await run('INSERT INTO t VALUES (1), (2)');
    await server.restart();
    await services.untilState(id, 'running');
    expect(await run('SELECT sum(x) FROM t')).toEqual({ status: 200, text: '3' });
  });

  it('is restarted after a crash, and says what happened', async () => {
    const { id, query: run } = await services.create();
    await run('CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x');
    await run('INSERT INTO t VALUES (7)');
    const { evidence } = (await services.read(id)).status;
    process.kill(evidence.pid, 'SIGKILL');
    await until(
      () => services.read(id),
      ({ status }) => status.state === 'running' && status.evidence.pid !== evidence.pid,
      'the service is not restarted',
    );
    expect(await run('SELECT x FROM t')).toEqual({ status: 200, text: '7' });
    const changes = (await services.listActivities(id)).filter(
      ({ activityType }) => activityType === 'service_state_change',
    );
    expect(JSON.stringify(changes)).toContain('SIGKILL');
  });

  it('applies its IP access list and a new password at once', async () => {
    const { id, url, query: run } = await services.create();
    const { password } = (await services.send('PATCH', `/${id}/password`, {})).json.result;
    await until(
      () => run('SELECT 1'),
      ({ status }) => status === 401,
      'the old password still works',
    );
    expect(await query(url, password, 'SELECT 1')).toMatchObject({ status: 200 });
    await services.send('PATCH', `/${id}`, { ipAccessList: { add: [{ source: '10.0.0.0/8' }] } });
    await until(
      () => query(url, password, 'SELECT 1'),
      ({ status }) => status === 403,
      'the address is still allowed',
    );
  });

  it('has its log printed without characters that change a terminal', async () => {
    const { id, query: run } = await services.create();
    await run("SELECT throwIf(1, 'red \u001b[31m c1 \u009b2J bidi \u202e end')");
    const print = (...options: string[]) =>
      getServerStore(server).run('service', 'logs', id, '--org', 'Acme', ...options);
    const { stdout } = await until(
      () => print(),
      (printed) => printed.stdout.includes('red'),
      'the error is not logged',
    );
    expect(stdout).toContain('red \\u001b[31m c1 \\u009b2J bidi \\u202e end');
    const json = await print('--json');
    for (const text of [stdout, json.stdout]) expect(text).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
    expect(JSON.parse(json.stdout).join('\n')).toContain('\u202e end');
    expect((await print('--lines', '1')).stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('records what happened to it as activities', async () => {
    const { id } = await services.create();
    const states = (await services.listActivities(id)).filter(
      ({ activityType }) => activityType === 'service_state_change',
    );
    expect(states).toMatchObject([{ organizationId: acme.id, serviceId: id }]);
  });
});
