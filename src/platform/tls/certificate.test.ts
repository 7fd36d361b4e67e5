import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { useCertificateFiles } from '../../../test/support/certificates.ts';
import { until } from '../../../test/support/until.ts';
import { type Certificate, openCertificate } from './certificate.ts';

type Files = ReturnType<typeof useCertificateFiles>;

/** A server that sends back what it gets, and what it logs. */
async function listen({ certFile, keyFile, ca }: Pick<Files, 'certFile' | 'keyFile' | 'ca'>) {
  const infos: object[] = [];
  const warnings: { reason?: string }[] = [];
  const log = {
    info: (details: object) => void infos.push(details),
    warn: (details: object) => void warnings.push(details),
  };
  const certificate: Certificate = await openCertificate({ certFile, keyFile, log, checkEveryMs: 20 });
  const server = createServer(certificate.options, (socket) => socket.pipe(socket));
  certificate.follow(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets: TLSSocket[] = [];
  onTestFinished(() => {
    certificate.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const open = (options: ConnectionOptions = {}) =>
    new Promise<TLSSocket>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const socket = connect({ host: '127.0.0.1', port, ca, ...options }, () => resolve(socket));
      socket.once('error', reject);
      sockets.push(socket);
    });
  /** The serial number of the certificate that a new connection gets. */
  const readSerial = async () => (await open()).getPeerX509Certificate()?.serialNumber;
  return { infos, warnings, open, readSerial };
}

const echo = (socket: TLSSocket) =>
  new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(String(bytes)));
    socket.write('hello');
  });

it('uses files that replace the first ones, and open connections continue', async () => {
  const files = useCertificateFiles();
  const server = await listen(files);
  const before = await server.open();
  const serial = before.getPeerX509Certificate()?.serialNumber;
  files.write(files.issue());
  await until(server.readSerial, (next) => next !== serial, 'the certificate was not replaced');
  expect(await echo(before)).toBe('hello');
  // Files that are read while they are written can be a valid pair, too.
  expect(server.infos.length).toBeGreaterThan(0);
  for (const info of server.infos) expect(info).toEqual(expect.objectContaining({ file: files.certFile }));
});

it('keeps the pair while only one of the two files is new', async () => {
  const files = useCertificateFiles();
  const server = await listen(files);
  const serial = await server.readSerial();
  const next = files.issue();
  writeFileSync(files.certFile, next.cert);
  await until(
    async () => server.warnings.length,
    (count) => count > 0,
    'no warning',
  );
  expect(server.warnings).toEqual([{ reason: expect.stringContaining('does not belong to the certificate') }]);
  expect(await server.readSerial()).toBe(serial);
  // As certbot does it.
  writeFileSync(`${files.keyFile}.new`, next.key);
  renameSync(`${files.keyFile}.new`, files.keyFile);
  await until(server.readSerial, (next) => next !== serial, 'the certificate was not replaced');
});

it('follows the links of a Kubernetes secret', async () => {
  const files = useCertificateFiles();
  const publish = (name: string) => {
    const { cert, key } = files.issue();
    mkdirSync(join(files.directory, name));
    writeFileSync(join(files.directory, name, 'tls.crt'), cert);
    writeFileSync(join(files.directory, name, 'tls.key'), key);
    symlinkSync(name, join(files.directory, '..data.new'));
    renameSync(join(files.directory, '..data.new'), join(files.directory, '..data'));
  };
  publish('first');
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(files.directory, name));
  const { ca, directory } = files;
  const server = await listen({ ca, certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') });
  const serial = await server.readSerial();
  publish('second');
  await until(server.readSerial, (next) => next !== serial, 'the certificate was not replaced');
});

it('keeps the pair while a file is missing, and warns once', async () => {
  const files = useCertificateFiles();
  const server = await listen(files);
  rmSync(files.keyFile);
  await until(
    async () => server.warnings.length,
    (count) => count > 0,
    'no warning',
  );
  await server.readSerial();
  expect(server.warnings).toEqual([{ reason: expect.stringContaining(`${files.keyFile} cannot be read`) }]);
});

it('refuses TLS 1.1', async () => {
  const server = await listen(useCertificateFiles());
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await expect(server.open(old)).rejects.toThrow('protocol version');
  expect((await server.open({ maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
});

it('does not open a pair that cannot be used, and names the file and the reason', async () => {
  const files = useCertificateFiles();
  const other = useCertificateFiles();
  const open = (changed: object) => openCertificate({ ...files, log: { info() {}, warn() {} }, ...changed });
  const empty = join(files.directory, 'empty.pem');
  writeFileSync(empty, '');
  await expect(open({ certFile: '/missing.pem' })).rejects.toThrow(
    'The certificate /missing.pem cannot be read: ENOENT',
  );
  await expect(open({ certFile: empty })).rejects.toThrow(`The certificate ${empty} cannot be used`);
  await expect(open({ keyFile: empty })).rejects.toThrow(`The key ${empty} cannot be used`);
  await expect(open({ keyFile: other.keyFile })).rejects.toThrow(
    `The key ${other.keyFile} does not belong to the certificate ${files.certFile}`,
  );
});
