import { expect, it, vi } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { type RunningService, useServices } from '../support/running-service.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
import { until } from '../support/until.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

onEachStore('SQL by role', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'] });
  const services = useServices(server);
  const sql = useStatements(server);
  let service: RunningService | undefined;
  const getService = async () => {
    service ??= await services.create();
    return service;
  };
  const listStatements = async (id: string) =>
    (await services.listActivities(id)).filter(({ after }: Json) => after?.statement !== undefined);

  it('returns rows, their types and what was read', async () => {
    const { id } = await getService();
    const { status, lines, rows, end } = await sql.run(id, 'SELECT number, toString(number) AS s FROM numbers(3)');
    expect(status).toBe(200);
    expect(lines[0]).toEqual({
      meta: [
        { name: 'number', type: 'UInt64' },
        { name: 's', type: 'String' },
      ],
    });
    expect(rows).toEqual([
      ['0', '0'],
      ['1', '1'],
      ['2', '2'],
    ]);
    expect(end).toMatchObject({ rows: 3, rowsRead: 3, bytesRead: 24, truncated: false });
    expect(end.queryId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('sends a short result in one piece, and a long one as it arrives', async () => {
    const { id } = await getService();
    const readHeaders = async (statement: string) => {
      const response = await sql.post(id, { sql: statement });
      const length = response.headers.get('content-length');
      return { length, bytes: (await response.arrayBuffer()).byteLength };
    };
    const short = await readHeaders('SELECT 1');
    expect(short.length).toBe(String(short.bytes));
    expect((await readHeaders('SELECT number, repeat(toString(number), 100) FROM numbers(9999)')).length).toBeNull();
  });

  it('writes as the admin and not as the reader', async () => {
    const { id } = await getService();
    const create = 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a';
    const refused = await sql.post(id, { sql: create });
    expect([refused.status, ((await refused.json()) as Json).error]).toEqual([
      403,
      'FORBIDDEN: The reader may not run this statement. It starts with CREATE TABLE. A reader may run one statement: SELECT, WITH, EXPLAIN, SHOW, DESCRIBE and EXISTS',
    ]);
    expect(await sql.run(id, create, { access: 'write' })).toMatchObject({ exception: undefined, end: { rows: 0 } });
    expect(await sql.run(id, 'INSERT INTO t VALUES (1), (2)', { access: 'write' })).toMatchObject({
      exception: undefined,
    });
    expect((await sql.run(id, 'SELECT sum(a) FROM t')).rows).toEqual([['3']]);
    expect((await sql.post(id, { sql: 'INSERT INTO t VALUES (1)' })).status).toBe(403);
    // The grants hold without the check.
    expect((await sql.run(id, 'SELECT * FROM system.users')).exception.name).toBe('ACCESS_DENIED');
  });

  it('says where a statement is wrong, in characters', async () => {
    const { id } = await getService();
    const statement = "SELECT 'ä€', FRM";
    const { status, exception } = await sql.run(id, `${statement} 1 1`);
    expect(status).toBe(200);
    expect(exception).toMatchObject({ code: 62, name: 'SYNTAX_ERROR', position: statement.length + 2 });
    expect(exception.message).toMatch(/^Syntax error/);
    const late = await sql.run(id, {
      sql: 'SELECT throwIf(number = 500000) FROM numbers(1000000)',
      maxRows: 1_000_000,
    });
    expect(late.rows.length).toBeGreaterThan(0);
    expect(late.exception).toMatchObject({ code: 395, name: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', position: null });
  });

  it('stops after the rows that were asked for', async () => {
    const { id } = await getService();
    const some = await sql.run(id, { sql: 'SELECT number FROM numbers(1000000)', maxRows: 10 });
    expect([some.rows.length, some.end]).toEqual([10, expect.objectContaining({ rows: 10, truncated: true })]);
    const all = await sql.run(id, { sql: 'SELECT number FROM numbers(10)', maxRows: 10 });
    expect(all.end).toMatchObject({ rows: 10, truncated: false });
    expect((await sql.run(id, 'SELECT number FROM system.numbers')).end).toMatchObject({
      rows: 10_000,
      truncated: true,
    });
  });

  it('takes a database and parameters; a FORMAT clause is for downloads', async () => {
    const { id } = await getService();
    const sent = "a\tb\n\\'";
    const parameters = { text: sent, name: 'one' };
    const body = { sql: 'SELECT {text:String} AS t FROM {name:Identifier}', database: 'system', parameters };
    expect((await sql.run(id, body)).rows).toEqual([[sent]]);
    expect((await sql.run(id, 'SELECT 1 FORMAT CSV')).exception.message).toContain('FORMAT CSV');
  });

  it('downloads files', async () => {
    const { id } = await getService();
    const download = async (format: string) => {
      const response = await sql.post(id, { sql: "SELECT number AS n, 'x' AS s FROM numbers(2)", format });
      const bytes = Buffer.from(await response.arrayBuffer());
      const disposition = response.headers.get('content-disposition');
      return [response.status, response.headers.get('content-type'), disposition, bytes.toString('latin1')];
    };
    expect(await download('csv')).toEqual([
      200,
      expect.stringMatching(/^text\/csv/),
      'attachment; filename="query.csv"',
      '"n","s"\n0,"x"\n1,"x"\n',
    ]);
    expect((await download('tsv'))[3]).toBe('n\ts\n0\tx\n1\tx\n');
    expect(JSON.parse((await download('json'))[3] as string)).toEqual([
      { n: 0, s: 'x' },
      { n: 1, s: 'x' },
    ]);
    expect((await download('parquet'))[3]).toMatch(/^PAR1[\s\S]*PAR1$/);
    const failed = await sql.post(id, { sql: 'SELEC 1', format: 'csv' });
    expect([failed.status, ((await failed.json()) as Json).error]).toEqual([
      400,
      expect.stringMatching(/^BAD_REQUEST: Syntax error/),
    ]);
    const late = { sql: 'SELECT throwIf(number = 5000000), number FROM numbers(10000000)', format: 'csv' };
    await expect((await sql.post(id, late)).text()).rejects.toThrow();
  });

  it('is an activity without literals, and in the history of its credentials', async () => {
    const { id } = await getService();
    const statement = "SELECT 'secret' AS s, 4711 /* hidden */ FROM numbers(7) -- end";
    await sql.run(id, statement, { key: acme.developer });
    const entry = await until(
      async () => (await sql.history(id, acme.developer))[0],
      (found) => found?.sql === statement,
      'the history lacks the statement',
    );
    expect(entry).toMatchObject({ database: '', access: 'read', rowsRead: 7, error: null });
    expect((await sql.history(id, acme.admin)).map((one: Json) => one.sql)).not.toContain(statement);
    const activity = (await listStatements(id)).find(({ after }) => after.statement.includes('AS s'));
    expect(activity).toMatchObject({
      type: 'service_sql',
      actorType: 'api',
      after: { statement: 'SELECT ? AS s, ? FROM numbers(?)', access: 'read', rowsRead: 7, bytesRead: 56 },
    });
    expect(JSON.stringify(activity)).not.toMatch(/secret|4711|hidden/);
    await sql.run(id, 'SELECT nothing');
    await until(
      async () => (await listStatements(id))[0],
      (found) => found?.after.error === 'UNKNOWN_IDENTIFIER',
      'the failed statement is no activity',
    );
  });

  it('is an activity with literals if the organization keeps them', async () => {
    const { id } = await getService();
    const setLiterals = (keepSqlLiterals: boolean, key = acme.admin) =>
      server.call({ method: 'PATCH', path: `/v1/organizations/${acme.id}`, key, body: { keepSqlLiterals } });
    expect((await setLiterals(true, acme.developer)).status).toBe(403);
    expect((await setLiterals(true)).json.result).toMatchObject({ keepSqlLiterals: true });
    const statement = "SELECT 'kept' AS t /* too */";
    await sql.run(id, statement);
    await until(
      () => listStatements(id),
      ([newest]) => newest?.after.statement === statement,
      'the activity has no literals',
    );
    expect((await setLiterals(false)).json.result).toMatchObject({ keepSqlLiterals: false });
    const path = `/v1/organizations/${acme.id}/activities?type=organization_update_sql_literals`;
    const changes: Json[] = (await server.call({ path, key: acme.admin })).json.result;
    expect(changes.map(({ before, after }) => [before, after])).toEqual([
      [{ keepSqlLiterals: true }, { keepSqlLiterals: false }],
      [{ keepSqlLiterals: false }, { keepSqlLiterals: true }],
    ]);
  });

  it('ends a running statement of the same credentials, and no other', async () => {
    const { id } = await getService();
    const queryId = newUuid();
    const long = 'SELECT sum(cityHash64(number)) FROM numbers(1000000000000)';
    const running = sql.run(id, { sql: long, queryId });
    const cancel = (key: typeof acme.admin) =>
      server.call({
        method: 'DELETE',
        path: `/v1/organizations/${acme.id}/services/${id}/sql/queries/${queryId}`,
        key,
      });
    await untilRunning(id, queryId, true);
    expect((await cancel(acme.developer)).status).toBe(404);
    expect((await cancel(acme.admin)).status).toBe(200);
    expect((await running).exception).toMatchObject({ code: 394, name: 'QUERY_WAS_CANCELLED' });
    await until(
      async () => (await cancel(acme.admin)).status,
      (status) => status === 404,
      'the statement is still running',
    );
  });

  it('ends a statement whose client disconnects', async () => {
    const { id } = await getService();
    const queryId = newUuid();
    const abort = new AbortController();
    const long = { sql: 'SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', queryId };
    const left = sql.run(id, long, { signal: abort.signal }).catch(() => 'left');
    await untilRunning(id, queryId, true);
    abort.abort();
    expect(await left).toBe('left');
    await untilRunning(id, queryId, false);
  });

  it('needs a service that is here, of this organization, with a driver that has users, and a role', async () => {
    const { id } = await getService();
    expect((await sql.post(newUuid(), { sql: 'SELECT 1' })).status).toBe(404);
    expect((await sql.post(id, { sql: 'SELECT 1' }, { key: globex.admin })).status).toBe(404);
    expect((await sql.post(id, { sql: 'SELECT 1' }, { key: acme.developer, access: 'write' })).status).toBe(403);
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    expect((await sql.post(id, { sql: 'SELECT 1' })).status).toBe(409);
    const simulated = await services.send('POST', '', {
      name: 's',
      provider: 'aws',
      region: 'eu-central-1',
      driver: 'simulated',
    });
    const refused = await sql.post(simulated.json.result.service.id, { sql: 'SELECT 1' });
    expect([refused.status, ((await refused.json()) as Json).error]).toEqual([
      409,
      'CONFLICT: s has the driver simulated. It runs no process; SQL by role needs the driver embedded',
    ]);
  });

  /** Whether ClickHouse runs the statement now. */
  const untilRunning = async (id: string, queryId: string, isRunning: boolean) => {
    const { query } = await getService();
    expect(id).toBe((await getService()).id);
    await until(
      async () => (await query(`SELECT count() FROM system.processes WHERE query_id = '${queryId}'`)).text,
      (count) => count === (isRunning ? '1' : '0'),
      'the statement is in another state',
    );
  };
});
