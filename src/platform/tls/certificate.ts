import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { AppError } from '../../kernel/errors.ts';
import { readBoundedText } from '../../kernel/files/read-file.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';

interface CertificateFiles {
  /** PEM: the certificate of the server, then those of the authorities between it and the root. */
  certFile: string;
  /** PEM, without a passphrase. */
  keyFile: string;
}

interface Options extends CertificateFiles {
  log: { info(details: object, text: string): void; warn(details: object, text: string): void };
  checkEveryMs?: number;
}

interface TlsOptions extends Pick<SecureContextOptions, 'minVersion'> {
  cert: string;
  key: string;
}

/** A server, or what passes the certificate on to one. */
interface Follower {
  setSecureContext(options: TlsOptions): void;
  once?(event: 'close', listener: () => void): unknown;
}

/** A certificate and its key. */
export interface Certificate {
  /** The current files, for `tls.createServer` and `https.createServer`. */
  readonly options: TlsOptions;
  /** The server uses the files as they change, until it is closed. Open connections keep the certificate that they have. */
  follow(server: Follower): void;
  close(): void;
}

/** A client that opens a connection and does not complete the handshake is disconnected after this time. */
export const HANDSHAKE_MS = 10 * SECOND_MS;

const CHECK_EVERY_MS = 5 * SECOND_MS;

/**
 * The files are read again every few seconds: programs that renew certificates replace files, links or whole directories,
 * and not all file systems report it. A pair that cannot be used stops the start; later, the pair before it stays in use.
 */
export async function openCertificate({ log, checkEveryMs = CHECK_EVERY_MS, ...files }: Options): Promise<Certificate> {
  let current = await readPair(files);
  const servers = new Set<Follower>();
  /** What the last pass found wrong. */
  let problem: string | undefined;
  let isReported = false;

  const loop = createBackgroundLoop({ run: check, everyMs: checkEveryMs, onError: report });

  async function check(): Promise<void> {
    const next = await readPair(files);
    problem = undefined;
    if (next.cert === current.cert && next.key === current.key) return;
    current = next;
    for (const server of servers) server.setSecureContext(current);
    const { validTo } = new X509Certificate(next.cert);
    log.info({ file: files.certFile, validTo }, 'the certificate has changed');
  }

  /** Once for each problem, and not for one pass: the two files are replaced one after the other. */
  function report(error: unknown): void {
    const { message } = error as Error;
    if (message !== problem) isReported = false;
    else if (!isReported) {
      isReported = true;
      log.warn({ reason: message }, 'the certificate has not been replaced');
    }
    problem = message;
  }

  loop.startAfterPause();
  return {
    get options() {
      return current;
    },
    follow(server) {
      servers.add(server);
      server.once?.('close', () => servers.delete(server));
    },
    close: () => void loop.close(),
  };
}

/** Throws with the file and the reason if the pair cannot be used. */
export async function readPair({ certFile, keyFile }: CertificateFiles): Promise<TlsOptions> {
  const [cert, key] = await Promise.all([readText('certificate', certFile), readText('key', keyFile)]);
  const pair: TlsOptions = { cert, key, minVersion: 'TLSv1.2' };
  const certificate = attempt(`The certificate ${certFile}`, () => new X509Certificate(cert));
  const privateKey = attempt(`The key ${keyFile}`, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new AppError('bad_request', `The key ${keyFile} does not belong to the certificate ${certFile}`);
  attempt(`The certificate ${certFile}`, () => createSecureContext(pair));
  return pair;
}

/** Of a certificate with its chain, or a key. */
const MAX_FILE_BYTES = 2 ** 20;

async function readText(kind: string, file: string): Promise<string> {
  try {
    return await readBoundedText(file, MAX_FILE_BYTES);
  } catch (cause) {
    throw new AppError('bad_request', `The ${kind} ${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function attempt<T>(subject: string, use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new AppError('bad_request', `${subject} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
