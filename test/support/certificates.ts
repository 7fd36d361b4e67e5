import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createAuthority, createServerCertificate, type KeyPair } from '../../src/platform/tls/create-certificate.ts';

const DAY_MS = 86_400_000;
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];

/** Valid from this many days before now until this many days after. */
const validDays = (before: number, after: number) => ({
  validFrom: new Date(Date.now() - before * DAY_MS),
  validTo: new Date(Date.now() + after * DAY_MS),
});

interface Issued {
  hosts?: readonly string[];
  /** From now; negative for an expired certificate. */
  days?: number;
}

/** An authority, and a directory with the files `cert.pem` and `key.pem` of a server. The caller removes it. */
export function createCertificateFiles(issued: Issued = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-tls-'));
  const authority = createAuthority({ name: 'Test authority', ...validDays(400, 400) });
  const files = {
    directory,
    caFile: join(directory, 'ca.pem'),
    certFile: join(directory, 'cert.pem'),
    keyFile: join(directory, 'key.pem'),
    /** What a client trusts. */
    ca: authority.cert,
    issue: ({ hosts = LOCAL_HOSTS, days = 90 }: Issued = {}): KeyPair =>
      createServerCertificate({ authority, hosts, ...validDays(300, days) }),
    write({ cert, key }: KeyPair): void {
      writeFileSync(files.certFile, cert);
      writeFileSync(files.keyFile, key);
    },
    remove: (): void => rmSync(directory, { recursive: true }),
  };
  writeFileSync(files.caFile, authority.cert);
  files.write(files.issue(issued));
  return files;
}

/** As `createCertificateFiles`, for one test. */
export function useCertificateFiles(issued?: Issued) {
  const files = createCertificateFiles(issued);
  onTestFinished(files.remove);
  return files;
}
