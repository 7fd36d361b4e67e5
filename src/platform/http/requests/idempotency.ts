import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import Type, { type TObject } from 'typebox';
import { AppError } from '../../../kernel/errors.ts';
import type { CallerKey, KeptResponse } from '../../../kernel/kept-response.ts';
import { PatternText } from '../../../kernel/schemas/pattern-text.ts';
import { getIdentity } from '../guard.ts';
import { management, selectInterface } from '../interfaces.ts';
import { sendRendered } from '../responses/envelopes.ts';
import type { App } from './validation.ts';

interface ResponseStore<Tx> {
  find(key: CallerKey): Promise<KeptResponse | undefined>;
  /** Throws if another request with the same key was completed: then the transaction is rolled back. */
  save(tx: Tx, key: CallerKey, response: KeptResponse): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an Idempotency-Key. */
    saveResponse: ((tx: unknown, response: RenderedResponse) => Promise<void>) | undefined;
  }
  interface FastifyContextConfig {
    /** The operation supports Idempotency-Key: its handler passes `keepResponse` to the operation. */
    isIdempotent?: boolean;
  }
}

interface RenderedResponse {
  /** JSON of `result` or `data`, without secrets. */
  result: string;
  headers?: Record<string, string>;
}

const HEADER = 'idempotency-key';
const REPLAYED_HEADER = 'idempotency-replayed';
const MAX_RESULT_BYTES = 64 * 1024;
/** Most operations take a few milliseconds. */
const RETRY_AFTER_SECONDS = 1;

const IdempotencyKey = PatternText(
  /^[!-~]{1,255}$/,
  'The value must be 1 to 255 visible ASCII characters',
  'Makes the request safe to repeat for 24 hours: a repetition with the same key and body does nothing and gets the same response without secrets, with the header idempotency-replayed: true. 409 while the first request is running; 422 if the key was used for another request.',
);

/**
 * For an operation that calls it in the transaction of its change, with the result of the change: the response is stored
 * if and only if the change is. Undefined if the request has no Idempotency-Key.
 */
export function keepResponse<T>(
  request: object,
  render: (value: T) => RenderedResponse | Promise<RenderedResponse>,
): ((tx: unknown, value: T) => Promise<void>) | undefined {
  const { saveResponse } = request as FastifyRequest;
  return saveResponse && (async (tx, value) => saveResponse(tx, await render(value)));
}

/** Supports Idempotency-Key on the routes of this scope that declare `isIdempotent`. Other requests cost nothing. */
export function supportIdempotency<Tx>(app: App, store: ResponseStore<Tx>): void {
  /** The requests that this process is running, with their hashes. Other processes are stopped by `save`. */
  const running = new Map<string, string>();

  app.decorateRequest('saveResponse', undefined);
  app.addHook('onRoute', (route) => {
    if (!route.config?.isIdempotent) return;
    route.schema = { ...route.schema, headers: addHeader(route.schema?.headers as TObject | undefined) };
    const handle = route.handler;
    route.handler = function (this: ThisParameterType<RouteHandlerMethod>, request, reply) {
      const run = () => handle.call(this, request, reply);
      const key = request.headers[HEADER];
      return key === undefined ? run() : runOnce(request, reply, String(key), run);
    };
  });

  async function runOnce(request: FastifyRequest, reply: FastifyReply, text: string, run: () => unknown) {
    const { organizationId, credentialId } = getIdentity(request);
    const key = { organizationId, credentialId, keyHash: hash('sha256', text, 'hex') };
    const requestHash = hashRequest(request);
    const id = Object.values(key).join(' ');
    const runningHash = running.get(id);
    if (runningHash !== undefined) throw runningHash === requestHash ? stillRunning() : differentRequest();
    running.set(id, requestHash);
    try {
      const kept = await store.find(key);
      if (kept) return replay(request, reply, kept, requestHash);
      request.saveResponse = (tx, { result, headers = {} }) =>
        store.save(tx as Tx, key, { requestHash, result: limitResult(result), headers });
      try {
        return await run();
      } catch (error) {
        // Another process may have completed the same request in the meantime.
        const completed = await store.find(key).catch(() => undefined);
        if (!completed) throw error;
        return replay(request, reply, completed, requestHash);
      }
    } finally {
      running.delete(id);
    }
  }
}

function addHeader(headers: TObject | undefined): TObject {
  return Type.Object({ ...headers?.properties, [HEADER]: Type.Optional(IdempotencyKey) });
}

/** The parsed body, so that a client may format it differently when it repeats the request. */
const hashRequest = ({ method, url, body }: FastifyRequest): string =>
  hash('sha256', `${method} ${url}\n${JSON.stringify(body ?? {})}`, 'hex');

const limitResult = (result: string): string | undefined =>
  Buffer.byteLength(result) > MAX_RESULT_BYTES ? undefined : result;

function replay(request: FastifyRequest, reply: FastifyReply, kept: KeptResponse, requestHash: string): FastifyReply {
  if (kept.requestHash !== requestHash) throw differentRequest();
  const { result, headers } = kept;
  if (result === undefined)
    throw new AppError(
      'conflict',
      'The request with this Idempotency-Key was completed, but its response was too large to be kept; read the resource instead',
      { headers: { [REPLAYED_HEADER]: 'true' } },
    );
  reply.headers(headers).header(REPLAYED_HEADER, 'true');
  const isManagement = selectInterface(request.url).prefix === management.prefix;
  return sendRendered(
    reply,
    isManagement ? `{"requestId":"${request.id}","result":${result},"status":200}` : `{"data":${result}}`,
  );
}

const stillRunning = () =>
  new AppError('conflict', 'A request with this Idempotency-Key is still running; repeat it later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

const differentRequest = () =>
  new AppError(
    'unprocessable_entity',
    'This Idempotency-Key was used for a request with a different operation or body; use a new key for a new request',
  );
