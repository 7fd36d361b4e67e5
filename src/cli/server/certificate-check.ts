import { X509Certificate } from 'node:crypto';
import { isLoopbackHost } from '../../kernel/access/addresses.ts';
import { DAY_MS, systemClock } from '../../kernel/time/clock.ts';
import { readPair } from '../../platform/tls/certificate.ts';
import { isIssuedFor, parseHost } from '../../platform/tls/certificate-host.ts';
import type { Config } from '../../server/settings/config.ts';
import { type CheckResult, fail, pass } from './check-result.ts';

const CHECK = 'tls';
const SOON_MS = 30 * DAY_MS;

/** Whether clients accept the certificate of the server, and for how long. */
export async function checkCertificate(config: Config): Promise<CheckResult[]> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = config;
  if (certFile === undefined || keyFile === undefined) return [];
  try {
    const { cert } = await readPair({ certFile, keyFile });
    const failed = [findTimeProblem(cert, certFile), findHostProblem(cert, certFile, config)].filter(
      (result) => result !== undefined,
    );
    const { validTo, subjectAltName = '' } = new X509Certificate(cert);
    return failed.length > 0 ? failed : [pass(CHECK, `${certFile} is for ${subjectAltName}, until ${validTo}`)];
  } catch (error) {
    return [fail(CHECK, (error as Error).message, 'Correct --tls-cert and --tls-key, or the files that they name')];
  }
}

function findTimeProblem(cert: string, file: string): CheckResult | undefined {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  const now = systemClock.now();
  const remedy = 'Renew the certificate; the server reads the new files without a restart';
  if (now >= to) return fail(CHECK, `${file} has expired on ${validTo}`, remedy);
  if (now < from) return fail(CHECK, `${file} is not valid before ${validFrom}`, 'Check the clock of this machine');
  // A third of the lifetime, when programs renew certificates, if that is less.
  return to - now < Math.min(SOON_MS, (to - from) / 3)
    ? fail(CHECK, `${file} expires on ${validTo}, in ${Math.floor((to - now) / DAY_MS)} days`, remedy)
    : undefined;
}

/** A server that listens on all addresses and has no public URL may have any name. */
function findHostProblem(cert: string, file: string, { host, publicUrl }: Config): CheckResult | undefined {
  const used = publicUrl === undefined ? host : parseHost(publicUrl);
  const names = isLoopbackHost(used) ? [used, 'localhost'] : [used];
  if (used === '0.0.0.0' || used === '::' || names.some((name) => isIssuedFor(cert, name))) return undefined;
  const { subjectAltName = 'no name' } = new X509Certificate(cert);
  return fail(
    CHECK,
    `${file} is for ${subjectAltName}, not for ${used}`,
    'Use a certificate for the address that clients use, or set --public-url to an address that it is for',
  );
}
