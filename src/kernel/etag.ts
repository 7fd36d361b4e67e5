import { hash } from 'node:crypto';
import { ENCODINGS, type Encoding } from './encodings.ts';

/** Names these very bytes: the same text always has the same tag, on every node. */
export const createEtag = (json: string): string => `"${hash('sha1', json, 'base64url')}"`;

/** The same answer in other bytes has a tag of its own, as HTTP wants it. */
export const toEncodedEtag = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}.${encoding}"`;

const ENCODED = new RegExp(`\\.(${ENCODINGS.join('|')})"$`);

/**
 * Does `If-Match` or `If-None-Match` name this answer, in whichever encoding it was sent? `W/` counts for nothing:
 * proxies put it there when they compress, and the tag names one text all the same.
 */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim().replace(/^W\//, '').replace(ENCODED, '"');
    return tag === etag || tag === '*';
  });
}
