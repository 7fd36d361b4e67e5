import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCertificateFiles, useCertificateFiles } from '../support/certificates.ts';
import { cli, getServerStore, type Json, listErrors } from '../support/cli.ts';
import { findFreePort } from '../support/postgres.ts';
import { useServer } from '../support/server.ts';
import { requestTls } from '../support/tls-client.ts';

function useDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-tls-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'files');
}

describe('pilothouse tls dev', () => {
  it('creates files that only their owner can read, and tells how to use them', async () => {
    const directory = useDirectory();
    const { code, stdout, stderr } = await cli(['tls', 'dev', '--directory', directory]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Created a certificate for localhost, 127.0.0.1, ::1, until');
    expect(stdout).toContain(`serve --tls-cert ${directory}/cert.pem --tls-key ${directory}/key.pem`);
    expect(stdout).toContain(`NODE_EXTRA_CA_CERTS=${directory}/ca.pem`);
    const names = readdirSync(directory).sort();
    expect(names).toEqual(['ca-key.pem', 'ca.pem', 'cert.pem', 'key.pem']);
    for (const name of names) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  });

  it.skipIf(spawnSync('openssl', ['version']).status !== 0)(
    'is accepted by OpenSSL with its strict rules',
    async () => {
      const directory = useDirectory();
      await cli(['tls', 'dev', '--directory', directory]);
      const openssl = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_ip', '127.0.0.1'];
      const files = ['-CAfile', `${directory}/ca.pem`, `${directory}/cert.pem`];
      expect((await promisify(execFile)('openssl', [...openssl, ...files])).stdout).toContain('OK');
    },
  );

  it('replaces the certificate and keeps the authority, with further hosts', async () => {
    const directory = useDirectory();
    const run = (...args: string[]) => cli(['tls', 'dev', '--directory', directory, '--json', ...args]);
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    await run();
    const [authority, cert] = [read('ca.pem'), read('cert.pem')];
    const { code, stdout } = await run('--host', 'pilot.test', '*.pilot.test', '10.1.2.3');
    expect(code).toBe(0);
    const { hosts }: Json = JSON.parse(stdout);
    expect(hosts).toEqual(['localhost', '127.0.0.1', '::1', 'pilot.test', '*.pilot.test', '10.1.2.3']);
    expect([read('ca.pem'), read('cert.pem') === cert]).toEqual([authority, false]);
  });

  it('overwrites no other file, and rejects names that are none', async () => {
    const directory = useDirectory();
    const run = (...args: string[]) => cli(['tls', 'dev', '--directory', directory, ...args]);
    expect(listErrors(await run('--host', 'a b'))).toEqual(['--host must be a host name or an IP address, not "a b"']);
    await run();
    const other = useCertificateFiles();
    writeFileSync(join(directory, 'cert.pem'), readFileSync(other.certFile));
    const { code, ...output } = await run();
    expect([code, ...listErrors({ code, ...output })]).toEqual([2, expect.stringContaining('is not from')]);
    expect(listErrors(await cli(['tls', 'dev', '--directory', other.directory]))).toHaveLength(1);
  });
});

describe('doctor', () => {
  const files = createCertificateFiles();
  const args = ['--tls-cert', files.certFile, '--tls-key', files.keyFile];
  const server = useServer('libsql', { args });
  afterAll(files.remove);

  async function check(...more: string[]): Promise<Json[]> {
    const { port } = new URL(server.url);
    const { stdout } = await getServerStore(server).run('doctor', '--json', '--port', port, ...args, ...more);
    return JSON.parse(stdout);
  }
  const findTls = async (...more: string[]): Promise<Json> => (await check(...more)).find((one) => one.check === 'tls');

  it('finds the running server by its certificate', async () => {
    expect((await requestTls(`${server.url}/readyz`, { ca: files.ca })).status).toBe(200);
    const results = await check();
    expect(results.filter(({ isFine }) => !isFine)).toEqual([]);
    expect(results).toContainEqual(
      expect.objectContaining({ check: 'port', text: expect.stringContaining('a healthy server is running') }),
    );
    expect(results).toContainEqual(
      expect.objectContaining({ check: 'tls', text: expect.stringContaining('is for DNS:localhost') }),
    );
  });

  it('reports a certificate that is expired, expires soon, is for another host or has another key', async () => {
    const useFiles = (issued: object): string[] => {
      const { certFile, keyFile } = useCertificateFiles(issued);
      return ['--tls-cert', certFile, '--tls-key', keyFile];
    };
    const other = useCertificateFiles();
    expect(await findTls(...useFiles({ days: -1 }))).toMatchObject({ text: expect.stringContaining('has expired on') });
    expect(await findTls(...useFiles({ days: 20 }))).toMatchObject({ text: expect.stringMatching(/in (19|20) days$/) });
    expect(await findTls(...useFiles({ days: 60 }))).toMatchObject({ isFine: true });
    expect(await findTls('--public-url', 'https://pilot.test')).toMatchObject({
      text: expect.stringContaining('not for pilot.test'),
    });
    expect(await findTls('--tls-key', other.keyFile)).toMatchObject({
      isFine: false,
      text: `The key ${other.keyFile} does not belong to the certificate ${files.certFile}`,
    });
  });

  it('a server with a key of another certificate does not start', async () => {
    const other = useCertificateFiles();
    const port = String(await findFreePort());
    const data = ['--data', join(files.directory, 'data'), '--port', port];
    const failed = await cli(['serve', ...data, '--tls-cert', files.certFile, '--tls-key', other.keyFile]);
    expect(failed.code).not.toBe(0);
    expect(listErrors(failed)).toEqual([expect.stringContaining('does not belong to the certificate')]);
  });
});
