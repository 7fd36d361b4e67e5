import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { type RunningService, useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
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
