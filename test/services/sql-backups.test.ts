import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ClickHouseServer, PASSWORDS, startClickHouseServer } from '../support/clickhouse-server.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { BUCKET, KEY, useS3 } from '../support/s3-server.ts';
import { onEachStoreInLongRuns, START_LIMIT_MS } from '../support/server.ts';
import { until } from '../support/until.ts';
import { HOOKED, HOOKED_PATH, startWithHookedService } from '../support/webhook-service.ts';

// Starts a ClickHouse server and a control plane.
vi.setConfig({ testTimeout: 120_000, hookTimeout: START_LIMIT_MS });

/** Only ClickHouse gets it. */
const SQL_KEY = { id: 'OF-CLICKHOUSE', secret: 'the-secret-that-clickhouse-gets' };

/** Of ClickHouse. */
const REASON = /^Code: \d+\. DB::Exception: /;

/**
 * The ClickHouse library of embedded services cannot write to S3 (a thread pool is missing), so here backups fail.
 * test/clients/downloaded/sql-backups.test.ts has a version that can.
 */
onEachStoreInLongRuns('backups of a service that runs elsewhere', (store) => {
  const s3 = useS3();
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-elsewhere-'));
  let database: ClickHouseServer;
  let server: Awaited<ReturnType<typeof startWithHookedService>>;
  const storageArgs: string[] = [];
  let sqlCredentials = '';
  beforeAll(async () => {
    database = await startClickHouseServer(folder);
    storageArgs.push('--backup-storage', `s3://${BUCKET}/fleet`, '--backup-s3-endpoint', s3.endpoint);
    storageArgs.push('--backup-s3-credentials-file', s3.credentialsFile);
    sqlCredentials = join(folder, 'credentials');
    writeFileSync(sqlCredentials, `aws_access_key_id = ${SQL_KEY.id}\naws_secret_access_key = ${SQL_KEY.secret}\n`);
    const address = { url: `http://127.0.0.1:${database.port}`, username: 'writer', password: PASSWORDS.writer };
    server = await startWithHookedService(store, address);
  });
  afterAll(async () => {
    await server?.remove();
    await database?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const services = useServices({ call: (call) => server.call(call) });
  const call = (method: string, path: string) =>
    server.call({ method, path: `${HOOKED_PATH}${path}`, key: acme.admin });

  async function backUp(): Promise<Json> {
    const { status, json } = await call('POST', '/backups');
    expect(status, JSON.stringify(json)).toBe(200);
    return until(
      async () => (await call('GET', `/backups/${json.result.id}`)).json.result as Json,
      (backup) => backup.status !== 'in_progress',
      'the backup does not end',
    );
  }

  const restart = async (...args: string[]) => {
    await server.stop();
    await server.restart([...server.args, ...args]);
    await services.untilState(HOOKED, 'running');
  };

  it('need S3-compatible storage, and a key for ClickHouse', async () => {
    await services.untilState(HOOKED, 'running');
    for (const args of [[], storageArgs]) {
      if (args.length > 0) await restart(...args);
      const { status, json } = await call('POST', '/backups');
      expect({ status, error: json.error }).toEqual({
        status: 409,
        error:
          'CONFLICT: A service with the driver webhook can only be backed up to S3-compatible storage; set --backup-storage and --backup-s3-sql-credentials-file',
      });
    }
  });

  it('fail with the reason of ClickHouse, without the secret, and leave nothing', async () => {
    await restart(...storageArgs, '--backup-s3-sql-credentials-file', sqlCredentials, '--log-level', 'debug');
    const failed = await backUp();
    expect(failed).toMatchObject({ status: 'error', error: expect.stringMatching(REASON) });
    expect(await s3.listKeys(`fleet/${HOOKED}/`)).toEqual([]);
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    for (const text of [server.log(), activities.text, JSON.stringify(failed)])
      for (const { secret } of [KEY, SQL_KEY]) expect(text).not.toContain(secret);
  });

  it('wait until a service that is starting runs', async () => {
    expect((await services.command(HOOKED, 'stop')).status).toBe(200);
    await services.untilState(HOOKED, 'stopped');
    server.delayStart(8);
    expect((await services.command(HOOKED, 'start')).status).toBe(200);
    // The statement fails here; without the wait there would be none.
    expect((await backUp()).error).toMatch(REASON);
  });

  it('fail at once if the storage cannot be used', async () => {
    s3.fail = () => 'forbidden';
    const failed = await backUp();
    s3.fail = () => undefined;
    expect(failed).toMatchObject({
      status: 'error',
      error: `s3://${BUCKET}/fleet/ responded with status 403 AccessDenied`,
    });
  });
});
