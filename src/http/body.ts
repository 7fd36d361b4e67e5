import type { FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import { dropNulls } from '../kernel/nulls.ts';
import type { App } from './validation.ts';

const MAX_DEPTH = 100;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** JSON and nothing else; no body, an empty one and `null` all count as `{}`. */
export function acceptJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, parseBody(request, bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
    if (bytes.length === 0) return done(null, {});
    done(new AppError('unsupported_media_type', 'The request body must be sent as application/json'));
  });
  app.addHook('onRoute', (route) => {
    const schema = route.schema?.body as object | undefined;
    if (!schema) return;
    route.preValidation = (request, _reply, done) => {
      request.body ??= {};
      dropNulls(schema, request.body);
      done();
    };
  });
}

/** Bodies of these types as they came, for the routes of this scope: they are read by other rules than JSON documents. */
export function acceptRawBodies(app: App, types: readonly string[]): void {
  app.removeAllContentTypeParsers();
  for (const type of types)
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) =>
    done(new AppError('unsupported_media_type', `The request body must be sent as ${types.join(' or ')}`)),
  );
}

function parseBody(request: FastifyRequest, bytes: Buffer): unknown {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError(
      'unsupported_media_type',
      `The request body must not be compressed (content-encoding: ${encoding.slice(0, 32)})`,
    );
  }
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new AppError('bad_request', 'request body is not valid UTF-8', { cause });
  }
  if (isTooDeep(text)) throw new AppError('bad_request', `request body is nested more than ${MAX_DEPTH} levels deep`);
  try {
    return JSON.parse(text) ?? {};
  } catch (cause) {
    throw new AppError('bad_request', 'request body is not valid JSON', { cause });
  }
}

/** Counts brackets outside strings; done before parsing, so that no parser has to survive a hostile depth. */
function isTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = findStringEnd(text, i);
    else if (character === '{' || character === '[') {
      if (++depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') depth--;
  }
  return false;
}

/** The index of the closing quote, or past the end of the text if there is none. */
function findStringEnd(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
