import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { cli, getServerStore } from '../support/cli.ts';
import { acme, globex } from '../support/fleet.ts';
import { query, useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

onEachStoreInLongRuns('an embedded service', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'] });
  const services = useServices(server);

  it('is a ClickHouse that answers at its endpoint, with its password only', async () => {
    const { id, url, password, query: run } = await services.create();
    expect(await services.read(id)).toMatchObject({
      driver: 'embedded',
      state: 'running',
      clickhouseVersion: expect.stringMatching(/^\d+\.\d+/),
      endpoints: [
        { protocol: 'http', host: '127.0.0.1', username: 'default' },
        { protocol: 'native', host: '127.0.0.1', username: 'default' },
      ],
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

  it('takes statements of 60 KiB in a URL, and rejects a URL that would stop the server', async () => {
    const { url, password } = await services.create();
    const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;
    const long = await fetch(`${url}/?query=SELECT+length('${'a'.repeat(60 * 1024)}')`, { headers: { authorization } });
    expect([long.status, await long.text()]).toEqual([200, `${60 * 1024}\n`]);
    // Without credentials. The second one is what Node lets through.
    expect((await fetch(`${url}/?${'a&'.repeat(32_000)}`)).status).toBe(400);
    expect((await fetch(`${url}/?${'a&'.repeat(50_000)}`)).status).toBe(414);
  });

  it('cannot set cookies or run script on its host, which may be that of the console', async () => {
    const { url, password } = await services.create();
    const parameters = new URLSearchParams({
      query: "SELECT '<script>document.cookie = 1</script>' FORMAT RawBLOB",
      http_response_headers: "{'Set-Cookie':'a=b','Content-Type':'text/html','Clear-Site-Data':'\"*\"'}",
      // ClickHouse compares names without case.
      USER: 'default',
      Password: password,
    });
    const response = await fetch(`${url}/?${parameters}`);
    expect([response.status, await response.text()]).toEqual([200, '<script>document.cookie = 1</script>']);
    const { headers } = response;
    expect(['set-cookie', 'clear-site-data'].filter((name) => headers.has(name))).toEqual([]);
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-type')).toBe('text/html');
  });

  it('answers service query over --url; a query that fails exits with 1, a missing password with 2', async () => {
    const { id, password } = await services.create();
    const run = (sql: string, environment: Record<string, string>) =>
      cli(['service', 'query', id, sql, '--json', '--url', server.url], {
        PILOTHOUSE_KEY: `${acme.admin.keyId}:${acme.admin.keySecret}`,
        ...environment,
      });
    const file = join(server.directory, 'password');
    writeFileSync(file, `${password}\n`);
    for (const [variable, value] of [
      ['PILOTHOUSE_PASSWORD', password],
      ['PILOTHOUSE_PASSWORD_FILE', file],
    ] as const)
      expect(JSON.parse((await run('SELECT 6 * 7 AS x', { [variable]: value })).stdout).data).toEqual([{ x: 42 }]);
    const failed = await run('SELEC 1', { PILOTHOUSE_PASSWORD: password });
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Syntax error') });
    expect(await run('SELECT 1', {})).toMatchObject({
      code: 2,
      stderr: 'error: the password is missing: use --password-file, PILOTHOUSE_PASSWORD or a terminal\n',
    });
  });

  it('has a log that keys of its organization read, without control characters', async () => {
    const { id, query: run } = await services.create();
    const read = (lines = '', key = acme.developer, organizationId: string = acme.id) =>
      server.call({ path: `/v1/organizations/${organizationId}/services/${id}/logs${lines}`, key });
    await run("SELECT '\u001b[31m red' FROM no_such_table");
    const readText = async () => (await read()).json.result.lines.join('\n');
    const text = await until(readText, (lines) => lines.includes("'\\u001b[31m red'"), 'the query is not in the log');
    expect(text).not.toContain('\u001b');
    expect((await read('?lines=1')).json.result).toMatchObject({ lines: [expect.any(String)], hasEarlier: true });
    expect((await read('?lines=5001')).status).toBe(400);
    expect((await read('', acme.query)).status).toBe(403);
    expect((await read('', globex.admin, globex.id)).status).toBe(404);
    expect((await services.send('GET', `/${acme.primary}/logs`)).json.result).toEqual({
      lines: [],
      hasEarlier: false,
      reason: 'analytics has the driver simulated; only embedded services have a log here',
    });
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
    const { id, url, query: run } = await services.create();
    expect((await services.command(id, 'stop')).json.result.state).toBe('stopping');
    const { endpoints } = await services.untilState(id, 'stopped');
    expect(endpoints, 'the address stays the same').toMatchObject([{ port: Number(new URL(url).port) }, {}]);
    const ping = await fetch(`${url}/ping`);
    expect([ping.status, ping.headers.get('x-pilothouse-service-state')]).toEqual([503, 'stopped']);
    expect(await ping.text()).toContain('The service is stopped');
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
    const remote = (command: string) =>
      cli(['service', command, id, '--json', '--url', server.url], {
        PILOTHOUSE_KEY: `${acme.admin.keyId}:${acme.admin.keySecret}`,
      });
    expect((await remote('logs')).stdout).toBe(json.stdout);
    await run('SYSTEM FLUSH LOGS');
    expect(JSON.parse((await remote('slow-queries')).stdout)).toContainEqual(
      expect.objectContaining({ query: expect.stringContaining('throwIf') }),
    );
    for (const text of [stdout, json.stdout]) expect(text).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
    expect(JSON.parse(json.stdout).join('\n')).toContain('\\u202e end');
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
