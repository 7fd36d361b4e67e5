import { hash } from 'node:crypto';
import { ENCODINGS, type Encoding } from './encodings.ts';
import { AppError } from './errors.ts';

/** A strong ETag: the same text has the same tag on every node. */
export const createEtag = (json: string): string => `"${hash('sha1', json, 'base64url')}"`;

/** A weak ETag: responses with the same tag may differ in what `content` does not have. */
export const createWeakEtag = (content: object): string => `W/${createEtag(JSON.stringify(content))}`;

/** HTTP requires a different tag for each encoding of a response. */
export const toEncodedEtag = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}.${encoding}"`;

const ENCODED = new RegExp(`\\.(${ENCODINGS.join('|')})"$`);

/**
 * Whether `If-Match` or `If-None-Match` contains this tag, in any encoding. `W/` is ignored: proxies add it when they
 * compress a response, and the tag still identifies the same text.
 */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim().replace(/^W\//, '').replace(ENCODED, '"');
    return tag === etag || tag === '*';
  });
}

/** Throws if `If-Match` was sent and contains none of the current tags. `name` is that of the kind of resource. */
export function rejectStale(name: string, ifMatch: string | undefined, etags: readonly string[]): void {
  if (ifMatch === undefined || etags.some((etag) => matchesEtag(ifMatch, etag.replace(/^W\//, '')))) return;
  throw new AppError(
    'precondition_failed',
    `The ${name} has changed since it was read (If-Match); read it again and repeat the change`,
  );
}
