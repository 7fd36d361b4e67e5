import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import { matchesEtag } from '../kernel/etag.ts';
import type { Page } from '../platform/http/app.ts';
import type { Routes } from '../platform/http/requests/validation.ts';
import { chooseEncoding } from '../platform/http/responses/compression.ts';
import type { PageFile, PageFiles } from './page-files.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Mantine and react-grid-layout set styles on elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Sent with every file of the console, in addition to the headers that every response has. */
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** Paths that do not belong to the console: a missing one is a 404. */
const RESERVED_PATHS = /^\/(v1|api|console|docs|assets)(\/|$)/;

/** The HTML page for every path that the router of the console handles, for requests that accept HTML. */
export function createPage({ index }: PageFiles): Page {
  const etag = `"${hash('sha1', index, 'base64url')}"`;
  return {
    accepts({ method, url, headers }) {
      if (method !== 'GET' && method !== 'HEAD') return false;
      const path = url.split('?', 1)[0] ?? '';
      return !RESERVED_PATHS.test(path) && !path.startsWith('//') && /\btext\/html\b/i.test(headers.accept ?? '');
    },
    send(request, reply) {
      request.operation = 'page';
      return (
        sendNotModified(request, reply.headers(HEADERS), etag) ?? reply.type('text/html; charset=utf-8').send(index)
      );
    },
  };
}

export function pageRoutes({ files }: PageFiles, page: Page): Routes {
  return (app) => {
    for (const address of ['/', '/index.html']) {
      app.get(address, { config: { operation: 'page' }, schema: { hide: true } }, async (request, reply) =>
        page.send(request, reply as FastifyReply),
      );
    }
    for (const file of files) {
      app.get(file.address, { config: { operation: 'asset' }, schema: { hide: true } }, async (request, reply) =>
        sendFile(file, request, (reply as FastifyReply).headers(HEADERS)),
      );
    }
  };
}

async function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = chooseEncoding(request, reply);
  const compressedPath = encoding === 'identity' ? undefined : file.encodings[encoding];
  const bytes = await readFile(compressedPath ?? file.path).catch((cause) => {
    throw new AppError('not_found', 'This console file no longer exists; reload the page', { cause });
  });
  if (file.isImmutable) reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`);
  else {
    const unchanged = sendNotModified(request, reply, `"${hash('sha1', bytes, 'base64url')}"`);
    if (unchanged) return unchanged;
  }
  if (compressedPath !== undefined) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(bytes);
}

/** Makes the client revalidate its copy; replies 304 if the copy is current. */
function sendNotModified(request: FastifyRequest, reply: FastifyReply, etag: string): FastifyReply | undefined {
  reply.header('cache-control', 'no-cache').header('etag', etag);
  const clientEtag = request.headers['if-none-match'];
  return clientEtag !== undefined && matchesEtag(clientEtag, etag) ? reply.code(304).send() : undefined;
}
