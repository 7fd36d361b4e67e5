import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { isLongRun } from '../support/long-run.ts';
import { type RunningService, useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
import { EVERYDAY, listFileReads, listParameterReads } from './reader-statements.ts';
import { listHostileStatements } from './sql-statements.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const SECRET = 'f1le-5ecret-4711';

onEachStoreInLongRuns('a reader that is hostile', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0', '--rate-limit', 'off'] });
  const services = useServices(server);
  const sql = useStatements(server);
  /** Must not be called. */
  const requests: string[] = [];
  const trap = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end(SECRET);
  });
  let service: RunningService;
  let data = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    service = await services.create();
    data = join(server.directory, 'data/services', service.id, 'data');
    for (const statement of [
      'CREATE DATABASE shop',
      'CREATE TABLE shop.orders (a UInt8) ENGINE = MergeTree ORDER BY a',
      'INSERT INTO shop.orders VALUES (1), (2)',
      `CREATE TABLE shop.linked (a UInt8) ENGINE = MySQL('127.0.0.1:1', 'd', 't', 'u', '${SECRET}')`,
      'CREATE VIEW shop.shown AS SELECT a FROM shop.orders WHERE a < {x:UInt8}',
    ])
      expect(await service.query(statement)).toMatchObject({ status: 200 });
    mkdirSync(join(data, 'user_files'), { recursive: true });
    writeFileSync(join(data, 'user_files/secret.txt'), SECRET);
  });
  afterAll(() => void trap.close());

  /** What a reader must not change. */
  const readState = async () => {
    const queries = [
      'SELECT a FROM shop.orders ORDER BY a',
      "SELECT database, name, create_table_query FROM system.tables WHERE database != 'system' ORDER BY 1, 2",
      'SELECT name, auth_type FROM system.users ORDER BY 1',
      'SELECT name FROM system.roles',
      'SELECT user_name, access_type, database, table FROM system.grants ORDER BY ALL',
      "SELECT name FROM system.functions WHERE origin != 'System'",
      'SELECT name FROM system.named_collections',
      "SELECT count() FROM system.backups WHERE status IN ('BACKUP_CREATED', 'RESTORED')",
    ];
    const answers = await Promise.all(queries.map((query) => service.query(query)));
    for (const { status, text } of answers) expect(status, text).toBe(200);
    return [answers.map(({ text }) => text), readdirSync(join(data, 'user_files')), readdirSync(data).sort()];
  };

  it('gets nothing but errors, and changes nothing', async () => {
    const { port } = trap.address() as AddressInfo;
    const all = listHostileStatements(join(data, 'user_files/secret.txt'), port);
    expect(all.length).toBeGreaterThanOrEqual(500);
    const statements = all.filter((_, index) => isLongRun || index % 4 === 0);
    const before = await readState();
    const passed: string[] = [];
    for (const statement of statements) {
      const response = await sql.post(service.id, { sql: statement }, { key: acme.developer });
      const text = await response.text();
      expect(text, statement).not.toContain(SECRET);
      if (response.status === 200 && !text.includes('{"exception":')) passed.push(statement);
    }
    expect(passed).toEqual([]);
    expect(await readState()).toEqual(before);
    expect(requests).toEqual([]);
    // It still runs, and its merges too.
    expect(await service.query('OPTIMIZE TABLE shop.orders FINAL')).toMatchObject({ status: 200 });
    expect((await sql.run(service.id, 'SELECT sum(a) FROM shop.orders')).rows).toEqual([['3']]);
  });

  /** Of the definition of the table, which has the password. The folder of its database is a link. */
  const definition = 'metadata/shop/linked.sql';

  it('reads no definition of a table, by no door', async () => {
    // What the statements are about exists: its owner can read it.
    expect((await service.query(`SELECT file('${definition}')`)).text).toContain(SECRET);
    const before = await readState();
    const { id: keyId, credentials } = await createKey(server, { roles: ['query_endpoints'] });
    const endpoint = { roles: ['sql_console_read_only'], openApiKeys: [keyId], allowedOrigins: '' };
    expect((await services.send('POST', `/${service.id}/serviceQueryEndpoint`, endpoint)).status).toBe(200);
    const doors: Record<string, (sql: string, parameters?: Record<string, string>) => Promise<Response>> = {
      lines: (statement, parameters) => sql.post(service.id, { sql: statement, parameters }, { key: acme.developer }),
      file: (statement, parameters) =>
        sql.post(service.id, { sql: statement, parameters, format: 'csv' }, { key: acme.developer }),
      endpoint: (statement, queryVariables) =>
        fetch(`${server.url}/service/${service.id}/run`, {
          method: 'POST',
          headers: {
            authorization: `Basic ${Buffer.from(`${credentials.keyId}:${credentials.keySecret}`).toString('base64')}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ sql: statement, queryVariables }),
        }),
      saved: async (statement, parameters) => {
        const saved = await server.call({
          method: 'POST',
          path: `/v1/organizations/${acme.id}/services/${service.id}/saved-queries`,
          key: acme.developer,
          body: { name: 'x', sql: statement },
        });
        const text: string = saved.json.result?.sql ?? statement;
        return sql.post(service.id, { sql: text, parameters }, { key: acme.developer });
      },
    };
    const statements = [
      ...listFileReads(definition).map((statement) => ({ sql: statement, parameters: undefined })),
      ...listParameterReads(definition),
    ];
    expect(statements.length).toBeGreaterThan(180);
    const passed: string[] = [];
    for (const [index, { sql: statement, parameters }] of statements.entries())
      for (const [position, [door, send]] of Object.entries(doors).entries()) {
        if (!isLongRun && position > 0 && (index + position) % 8 !== 0) continue;
        const response = await send(statement, parameters);
        const text = await response.text();
        expect(text, statement).not.toContain(SECRET);
        // No name of a function is needed to see that the file was opened.
        expect(text, statement).not.toContain('ATTACH TABLE');
        if (response.status === 200 && !text.includes('"exception":')) passed.push(`${door}: ${statement}`);
      }
    expect(passed).toEqual([]);
    expect(await readState()).toEqual(before);
  });

  it('runs what people run, and gets a reason for what it may not', async () => {
    const failed: string[] = [];
    for (const statement of EVERYDAY) {
      const { status, exception, lines } = await sql.run(service.id, statement, { key: acme.developer });
      if (status !== 200 || exception) failed.push(`${statement}: ${JSON.stringify(exception ?? lines)}`);
    }
    expect(failed).toEqual([]);
    const refused = await sql.post(service.id, { sql: "SELECT 1, file('x')" }, { key: acme.developer });
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({
        error: 'FORBIDDEN: The reader may not run this statement. It calls file at position 11, and it reads files',
      }),
    ]);
  });

  it('sees no secret of a table that connects elsewhere', async () => {
    for (const statement of [
      'SHOW CREATE TABLE shop.linked',
      "SELECT * FROM system.tables WHERE name = 'linked'",
      "SELECT engine_full FROM system.databases WHERE name = 'shop'",
    ]) {
      const answer = await sql.post(service.id, { sql: statement }, { key: acme.developer });
      const text = await answer.text();
      expect(text).not.toContain('"exception"');
      expect(text).not.toContain(SECRET);
    }
  });

  it('cannot pass for the control plane at the endpoint', async () => {
    const header = { 'x-pilothouse-sql': `${'0'.repeat(64)} admin x 127.0.0.1` };
    const answer = await fetch(`${service.url}/?query=SELECT+1`, { headers: header });
    expect(answer.status).not.toBe(200);
    const shown = await service.query("SELECT getClientHTTPHeader('x-pilothouse-sql')", {
      headers: header,
      parameters: '?allow_get_client_http_header=1',
    });
    expect(shown).toEqual({ status: 200, text: '' });
  });
});
