import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { KeyPair } from '../../src/platform/tls/create-certificate.ts';
import { createCertificateFiles } from '../support/certificates.ts';
import { cliProcess } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { useServices } from '../support/running-service.ts';
import { BUCKET, KEY, useS3 } from '../support/s3-server.ts';
import { useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts processes: commands, a server and a service.
vi.setConfig({ testTimeout: 180_000 });

describe('backups in S3-compatible storage with TLS', () => {
  const s3 = useS3();
  const files = createCertificateFiles();
  const sockets = new Set<Socket>();
  const first = files.issue();
  const endpoint = createServer(first, (socket) => {
    const upstream = connect(Number(new URL(s3.endpoint).port), '127.0.0.1');
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => {})
        .once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  const storage: string[] = [];
  const args = ['--endpoint-ports', '0', '--backup-storage', `s3://${BUCKET}/tls`];
  beforeAll(async () => {
    await new Promise<void>((resolve) => void endpoint.listen(0, '127.0.0.1', resolve));
    const { port } = endpoint.address() as AddressInfo;
    storage.push('--backup-s3-endpoint', `https://127.0.0.1:${port}`);
    storage.push('--backup-s3-credentials-file', s3.credentialsFile);
    args.push(...storage);
  });
  afterAll(() => {
    endpoint.close();
    closeConnections();
    files.remove();
  });
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy();
  };

  /** New connections use it; connections that are kept would continue with the one before. */
  function use(certificate: KeyPair): void {
    endpoint.setSecureContext(certificate);
    closeConnections();
  }

  const trusting = { NODE_EXTRA_CA_CERTS: files.caFile };
  const server = useServer('libsql', { inProcess: false, args, environment: trusting });
  const services = useServices(server);
  const { send } = services;

  const backUp = async (id: string): Promise<Json> => {
    const { json } = await send('POST', `/${id}/backups`);
    return until(
      async () => (await send('GET', `/${id}/backups/${json.result.id}`)).json.result as Json,
      ({ status }) => status !== 'in_progress',
      'the backup stays in progress',
    );
  };

  it('are made with a trusted certificate, fail with the reason when it is not valid, and are made after its renewal', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t SELECT number FROM numbers(1000)');
    expect(await backUp(id)).toMatchObject({ status: 'done', type: 'full' });
    onTestFinished(() => use(first));
    for (const [certificate, code] of [
      [files.issue({ days: -1 }), 'CERT_HAS_EXPIRED'],
      [files.issue({ hosts: ['elsewhere.test'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ] as const) {
      use(certificate);
      const failed = await backUp(id);
      expect(failed).toMatchObject({
        status: 'error',
        error: `s3://${BUCKET}/tls/ cannot be reached: ${code}`,
      });
      expect(await s3.listKeys(`tls/${id}/${failed.id}/`)).toEqual([]);
    }
    use(files.issue());
    const renewed = await backUp(id);
    expect(renewed).toMatchObject({ status: 'done', type: 'incremental' });
    const restored = await services.create({ name: 'restored', backupId: renewed.id });
    expect((await restored.query('SELECT count() FROM t')).text).toBe('1000');
    expect(server.log()).not.toContain(KEY.secret);
  });

  it('`doctor` says that the certificate is not trusted, and what to do', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-doctor-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const check = async (environment: Record<string, string>): Promise<Json> => {
      // The S3 server of the tests cannot return the first of several objects, which this asks for.
      const command = ['doctor', '--json', '--data', directory, '--backup-storage', `s3://${BUCKET}/unused`];
      const { stdout } = await cliProcess([...command, ...storage], environment);
      return JSON.parse(stdout).find((result: Json) => result.check === 'backups');
    };
    expect(await check({})).toMatchObject({
      isFine: false,
      text: expect.stringMatching(
        /^s3:\S+ cannot be reached: [A-Z_]+; set NODE_EXTRA_CA_CERTS to the file of its authority$/,
      ),
    });
    expect(await check(trusting)).toMatchObject({ isFine: true });
  });
});
