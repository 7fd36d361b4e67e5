import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../kernel/access/addresses.ts';

/** Whether a client that connects to this name or address accepts the certificate. */
export function isIssuedFor(cert: string, host: string): boolean {
  const certificate = new X509Certificate(cert);
  return (isIP(host) > 0 ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/**
 * The address of this machine to tell clients: the first candidate that the certificate is for, otherwise its first name.
 * Only clients of this machine reach a loopback address, under whatever name.
 */
export function chooseHost(cert: string, [own, ...others]: readonly [string, ...string[]]): string {
  const fitting = [own, ...others].find((host) => isIssuedFor(cert, host));
  return fitting ?? (isLoopbackHost(own) ? own : (findName(cert) ?? own));
}

/** A name with a wildcard is not an address. */
function findName(cert: string): string | undefined {
  const { subjectAltName = '' } = new X509Certificate(cert);
  return /(?:^|, )DNS:([\w.-]+)/.exec(subjectAltName)?.[1];
}
