import type { IncomingMessage } from 'node:http';
import { AppError } from '../../../kernel/errors.ts';
import { MAX_URL_BYTES, MAX_URL_PARAMETERS } from '../../../kernel/url-limits.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** What Node accepts of the request line and the headers together. It rejects more with 431 while it arrives. */
export const MAX_HEAD_BYTES = MAX_URL_BYTES + MAX_HEADER_BYTES;

/** The error for a URL or headers above their limits. */
export function findHeadError({ url = '', rawHeaders }: IncomingMessage): AppError | undefined {
  if (url.length > MAX_URL_BYTES)
    return new AppError('uri_too_long', `The URL has ${url.length} bytes. Maximum: ${MAX_URL_BYTES}`);
  if (url.length > MAX_URL_PARAMETERS && hasTooManyParameters(url))
    return new AppError('bad_request', `The URL has more than ${MAX_URL_PARAMETERS} parameters`);
  let headerBytes = 0;
  for (const text of rawHeaders) headerBytes += text.length;
  return headerBytes > MAX_HEADER_BYTES
    ? new AppError('headers_too_large', `The headers have ${headerBytes} bytes. Maximum: ${MAX_HEADER_BYTES}`)
    : undefined;
}

const hasTooManyParameters = (url: string): boolean =>
  url.split('&', MAX_URL_PARAMETERS + 1).length > MAX_URL_PARAMETERS;
