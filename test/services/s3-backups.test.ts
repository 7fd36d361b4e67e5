import { beforeAll, expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { type ClockedOptions, useClockedServer } from '../support/clocked-server.ts';
import { useServices } from '../support/running-service.ts';
import { BUCKET, useS3 } from '../support/s3-server.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const HOUR_MS = 3_600_000;

onEachStoreInLongRuns('backups of an embedded service in S3-compatible storage', (store) => {
  const s3 = useS3();
  const settings: ClockedOptions['settings'] = { endpointPorts: '0', rateLimit: 'off' };
  beforeAll(() => {
    const { endpoint: backupS3Endpoint, credentialsFile: backupS3CredentialsFile } = s3;
    Object.assign(settings, { backupStorage: `s3://${BUCKET}/fleet`, backupS3Endpoint, backupS3CredentialsFile });
  });
  const server = useClockedServer(store, { settings, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });
  const { send } = services;
  const list = async (id: string): Promise<Json[]> => (await send('GET', `/${id}/backups`)).json.result;
  const isPut = (request: string) => request.startsWith('PUT ');

  async function backUp(id: string): Promise<Json> {
    const { json } = await send('POST', `/${id}/backups`);
    await server.settleBackups();
    return (await send('GET', `/${id}/backups/${json.result.id}`)).json.result;
  }

  async function createFilled() {
    const service = await services.create();
    await service.query('CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
    await service.query('INSERT INTO t SELECT number, toString(number) FROM numbers(1000)');
    return service;
  }

  it('are made, restored, verified and deleted; damage is found', async () => {
    const { id, query } = await createFilled();
    const full = await backUp(id);
    expect(full).toMatchObject({ status: 'done', type: 'full' });
    await query('INSERT INTO t SELECT number + 1000, toString(number) FROM numbers(10)');
    const added = await backUp(id);
    expect(added).toMatchObject({ status: 'done', type: 'incremental' });
    const prefix = `fleet/${id}/${added.id}/`;
    expect(await s3.listKeys(prefix)).toContain(`${prefix}manifest.json`);

    const restored = await services.create({ name: 'restored', backupId: added.id });
    const sums = 'SELECT count(), sum(cityHash64(n, s)) FROM t';
    expect((await restored.query(sums)).text).toBe((await query(sums)).text);

    const verify = async (): Promise<Json> => {
      await send('POST', `/${id}/backups/${added.id}/verification`);
      await server.settleBackups();
      return (await send('GET', `/${id}/backups/${added.id}`)).json.result.verification;
    };
    expect(await verify()).toMatchObject({ status: 'done', tables: 1, rows: 1010 });
    const key = (await s3.listKeys(prefix)).find((name) => name.endsWith('data.bin')) ?? '';
    const content = await s3.read(key);
    await s3.write(key, content.with(-1, ((content.at(-1) ?? 0) + 1) % 256));
    expect(await verify()).toMatchObject({
      status: 'error',
      error: expect.stringContaining('differs from its checksum'),
    });

    // A new chain after a week; then the old one is deleted as a whole.
    server.now += 8 * 24 * HOUR_MS;
    await query('INSERT INTO t VALUES (1, 1)');
    await server.settleBackups();
    await server.settleBackups();
    const left = (await list(id)).map((backup) => backup.id);
    expect(left.length).toBeGreaterThan(0);
    expect(left).not.toContain(full.id);
    expect(left).not.toContain(added.id);
    for (const { id: deleted } of [full, added]) expect(await s3.listKeys(`fleet/${id}/${deleted}/`)).toEqual([]);
  });

  it('that cannot be stored say why, leave nothing, and are tried again', async () => {
    const { id } = await createFilled();
    await send('PATCH', `/${id}/backupConfiguration`, { backupPeriodInHours: 6, backupRetentionPeriodInHours: 48 });
    s3.fail = (request) => (isPut(request) ? 'forbidden' : undefined);
    const failed = await backUp(id);
    expect(failed).toMatchObject({
      status: 'error',
      error: `s3://${BUCKET}/fleet/ responded with status 403 AccessDenied`,
    });
    expect(await s3.listKeys(`fleet/${id}/`)).toEqual([]);
    s3.fail = () => undefined;
    server.now += 6 * HOUR_MS;
    await server.settleBackups();
    expect((await list(id)).map(({ status }) => status)).toEqual(['done', 'error']);
    // Objects that could not be removed are removed with the backup.
    s3.fail = (request) => (request.includes('manifest.json') ? 'forbidden' : undefined);
    const second = await backUp(id);
    expect(second).toMatchObject({ status: 'error' });
    expect(await s3.listKeys(`fleet/${id}/${second.id}/`)).not.toEqual([]);
    s3.fail = () => undefined;
    server.now += 8 * 24 * HOUR_MS;
    await server.settleBackups();
    await server.settleBackups();
    expect(await s3.listKeys(`fleet/${id}/${second.id}/`)).toEqual([]);
  });

  it('are continued after a restart of the control plane', async () => {
    const { id } = await createFilled();
    s3.fail = (request) => (isPut(request) && request.includes('metadata') ? 'hang' : undefined);
    const requested = (await send('POST', `/${id}/backups`)).json.result;
    const prefix = `fleet/${id}/${requested.id}/`;
    // The clock stands still, so the work is started.
    const work = server.settleBackups().catch(() => {});
    const sent = await until(
      () => s3.listKeys(prefix),
      (keys) => keys.length > 3,
      'nothing is sent',
    );
    await server.restart();
    await work;
    s3.fail = () => undefined;
    s3.requests.length = 0;
    const backup = await until(
      async () => (await send('GET', `/${id}/backups/${requested.id}`)).json.result as Json,
      ({ status }) => status !== 'in_progress',
      'the backup stays in progress',
    );
    expect(backup).toMatchObject({ status: 'done', type: 'full' });
    const again = s3.requests.filter(isPut);
    for (const key of sent) expect(again.filter((request) => request.includes(encodeURI(key)))).toEqual([]);
    const restored = await services.create({ name: 'restored', backupId: requested.id });
    expect((await restored.query('SELECT count() FROM t')).text).toBe('1000');
  });
});
