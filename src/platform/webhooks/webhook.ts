import { classifyAddress } from '../../kernel/access/addresses.ts';

/** Stored encrypted, because the secret signs requests. */
export interface Webhook {
  url: string;
  secret: string;
}

export const MAX_URL_LENGTH = 2048;

/** The rule that a URL violates. Host names are resolved only when a request is sent. */
export function findUrlViolation(text: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'The value must be an http or https URL';
  if (text.length > MAX_URL_LENGTH) return `The value must have at most ${MAX_URL_LENGTH} characters`;
  if (url.username !== '' || url.password !== '') return 'The value must not contain a user name or password';
  const host = getHost(url);
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  return isAddress ? findAddressViolation(host, allowPrivate) : undefined;
}

/** The host name, or the address without the brackets of IPv6. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Prevents requests to internal addresses. */
export function findAddressViolation(address: string, allowPrivate: boolean): string | undefined {
  const addressClass = classifyAddress(address);
  if (addressClass === 'public' || (addressClass === 'private' && allowPrivate)) return undefined;
  return addressClass === 'private'
    ? 'The address is private; allow private addresses with --webhook-allow-private yes'
    : 'The address is link-local, reserved or a metadata service, which is never allowed';
}
