import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../kernel/access/addresses.ts';

/** Whether a client that connects to this name or address accepts the certificate. */
export function isIssuedFor(cert: string, host: string): boolean {
  const certificate = new X509Certificate(cert);
  return (isIP(host) > 0 ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/**
 * The address of this machine to tell clients: the own one or that of the public URL if the certificate is for it, otherwise
 * the first name of the certificate. Only clients of this machine reach a loopback address, under whatever name.
 */
export function chooseHost(cert: string, own: string, publicUrl: string | undefined): string {
  const candidates = publicUrl === undefined ? [own] : [own, parseHost(publicUrl)];
  const fitting = candidates.find((host) => isIssuedFor(cert, host));
  return fitting ?? (isLoopbackHost(own) ? own : (findName(cert) ?? own));
}

/** The host of a URL, without the brackets of an IPv6 address. */
export const parseHost = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** A name with a wildcard is not an address. */
function findName(cert: string): string | undefined {
  const { subjectAltName = '' } = new X509Certificate(cert);
  return /(?:^|, )DNS:([\w.-]+)/.exec(subjectAltName)?.[1];
}
