import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';
import { isShortJson, parseJsonInSlices } from '../../../kernel/json/json-slices.ts';
import { dropNulls } from '../../../kernel/json/nulls.ts';
import { consoleInterface, selectInterface } from '../interfaces.ts';
import { type BodyLimits, readJsonText, tooManyBytes } from './read-body.ts';
import type { App } from './validation.ts';

const MAX_DEPTH = 100;

type Done = (error: Error | null, body?: unknown) => void;

/** Accepts JSON only. A missing or empty body and `null` count as `{}`. */
export function acceptJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const error = findHeaderError(request);
    if (error) return done(error);
    readJsonText(payload, getLimits(request), (failure, text) =>
      failure ? done(failure) : parseBody(text, done as Done),
    );
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

function findHeaderError(request: FastifyRequest): AppError | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return new AppError(
      'unsupported_media_type',
      `The request body must not be compressed (content-encoding: ${encoding.slice(0, 32)})`,
    );
  const { maxBytes } = getLimits(request);
  return Number(request.headers['content-length']) > maxBytes ? tooManyBytes(maxBytes) : undefined;
}

/** Every route accepts a body that is at most this long. */
const SMALLEST_LIMIT_BYTES = consoleInterface.bodyLimitBytes;

function getLimits(request: FastifyRequest): BodyLimits {
  const isSmall = Number(request.headers['content-length']) <= SMALLEST_LIMIT_BYTES;
  // Reading the options of a route creates an object each time.
  const maxBytes = isSmall ? SMALLEST_LIMIT_BYTES : request.routeOptions.bodyLimit;
  return { maxBytes, maxDepth: MAX_DEPTH, maxValues: selectInterface(request.url).maxBodyValues };
}

function parseBody(text: string, done: Done): void {
  if (isShortJson(text)) {
    const parsed = parseShortText(text);
    if (parsed instanceof AppError) done(parsed);
    else done(null, parsed);
  } else
    parseJsonInSlices(text).then(
      (body) => done(null, body ?? {}),
      (cause) => done(invalidJson(cause)),
    );
}

function parseShortText(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text) ?? {};
  } catch (cause) {
    return invalidJson(cause);
  }
}

const invalidJson = (cause: unknown): AppError =>
  new AppError('bad_request', 'request body is not valid JSON', { cause });
