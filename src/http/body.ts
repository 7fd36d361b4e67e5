import type { FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import { dropNulls } from '../kernel/nulls.ts';
import type { App } from './validation.ts';

const MAX_DEPTH = 100;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Accepts JSON only. A missing or empty body and `null` count as `{}`. */
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

/** Passes bodies of these types to the handlers unparsed, for the routes of this scope. */
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

/** Counts brackets outside strings before parsing, to protect the parser from deep nesting. */
function isTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = findEndOfString(text, i + 1);
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The index of the closing quote, or the end of the text. */
function findEndOfString(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    if (text[i] === '"') return i;
    if (text[i] === '\\') i++;
  }
  return text.length;
}
