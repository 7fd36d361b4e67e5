import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';
import { findExceededLimit } from '../../../kernel/json/json-meter.ts';
import { dropNulls } from '../../../kernel/json/nulls.ts';
import type { App } from './validation.ts';

/** Of the maximum size of a body. JSON.parse takes 20 ms for 50,000 new member names, and 70 ms for twice as many. */
const MAX_VALUES_PER_MIB = 25_000;
const MIB = 1024 * 1024;
/** A shorter body cannot have too many values. */
const SHORT_BYTES = 16 * 1024;
const MAX_DEPTH = 100;

/** Accepts JSON only, also under the names of other `types`. A missing or empty body and `null` count as `{}`. */
export function acceptJsonBodies(app: App, types: string[] = ['application/json']): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    try {
      rejectCompressed(request);
      done(null, parseJson(bytes, countAllowedValues(request, bytes)));
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

function rejectCompressed(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new AppError(
      'unsupported_media_type',
      `The request body must not be compressed (content-encoding: ${encoding.slice(0, 32)})`,
    );
}

/** Reading the options of a route creates an object each time. */
const countAllowedValues = (request: FastifyRequest, { length }: Buffer): number =>
  ((length > SHORT_BYTES ? request.routeOptions.bodyLimit : MIB) / MIB) * MAX_VALUES_PER_MIB;

/** Limits what JSON.parse has to do before it is called: it holds the event loop. */
function parseJson(bytes: Buffer, maxValues: number): unknown {
  const exceeded = findExceededLimit(bytes, { maxValues, maxDepth: MAX_DEPTH });
  if (exceeded === 'maxValues')
    throw new AppError('payload_too_large', `The request body has more than ${maxValues} values`);
  if (exceeded) throw new AppError('bad_request', `request body is nested more than ${MAX_DEPTH} levels deep`);
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'request body is not valid UTF-8');
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    return text === '' ? {} : (JSON.parse(text) ?? {});
  } catch (cause) {
    throw new AppError('bad_request', 'request body is not valid JSON', { cause });
  }
}
