import { hash } from 'node:crypto';
import { ENCODINGS, type Encoding } from './encodings.ts';

/** A strong ETag: the same text has the same tag on every node. */
export const createEtag = (json: string): string => `"${hash('sha1', json, 'base64url')}"`;

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
