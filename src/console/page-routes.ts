import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '../http/app.ts';
import type { Routes } from '../http/validation.ts';
import { preferredEncoding } from '../kernel/encodings.ts';
import { AppError } from '../kernel/errors.ts';
import { matchesEtag } from '../kernel/etag.ts';
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

/** On everything of the console, and on no answer of an interface. */
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** Where somebody other than the console answers: what is missing there is missing. */
const TAKEN = /^\/(v1|api|console|docs|assets)(\/|$)/;

/** The page for every address that the console's own router knows, and that a browser asks for. */
export function createPage({ index }: PageFiles): Page {
  const etag = `"${hash('sha1', index, 'base64url')}"`;
  return {
    accepts({ method, url, headers }) {
      if (method !== 'GET' && method !== 'HEAD') return false;
      const path = url.split('?', 1)[0] ?? '';
      return !TAKEN.test(path) && !path.startsWith('//') && /\btext\/html\b/i.test(headers.accept ?? '');
    },
    send(request, reply) {
      request.operation = 'page';
      return fresh(request, reply.headers(HEADERS), etag) ?? reply.type('text/html; charset=utf-8').send(index);
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
  const wanted = preferredEncoding(request.headers['accept-encoding'] ?? '');
  const twin = wanted === 'identity' ? undefined : file.encodings[wanted];
  const bytes = await readFile(twin ?? file.path).catch((cause) => {
    throw new AppError('not_found', 'This file of the console is gone; reload the page', { cause });
  });
  reply.header('vary', 'accept-encoding');
  if (file.isImmutable) reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`);
  else {
    const unchanged = fresh(request, reply, `"${hash('sha1', bytes, 'base64url')}"`);
    if (unchanged) return unchanged;
  }
  if (twin !== undefined) reply.header('content-encoding', wanted);
  return reply.type(file.type).send(bytes);
}

/** May be kept, but not used without asking; answers at once whoever has it already. */
function fresh(request: FastifyRequest, reply: FastifyReply, etag: string): FastifyReply | undefined {
  reply.header('cache-control', 'no-cache').header('etag', etag);
  const known = request.headers['if-none-match'];
  return known !== undefined && matchesEtag(known, etag) ? reply.code(304).send() : undefined;
}
