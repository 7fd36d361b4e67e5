import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS } from '../../../kernel/access/roles.ts';
import { AppError } from '../../../kernel/errors.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { getClient } from '../../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { DashboardFailure } from '../../../platform/http/responses/envelopes.ts';
import { TailBody } from '../schema.ts';
import type { Tail } from './tail.ts';
import type { TailEvent } from './tail-watcher.ts';

const EVENT_STREAM = 'text/event-stream';
/** A client that does not know the format would wait for the end of the response. */
const ACCEPT_RULE = `A live tail is a stream of events; send the header Accept: ${EVENT_STREAM}`;
const HEARTBEAT_MS = 15 * SECOND_MS;
/** How soon a stream ends after its token was deleted. */
const AUTHORIZE_EVERY_MS = 5 * SECOND_MS;
/** Rows for a client that does not read are skipped beyond this size. */
const MAX_BUFFERED_BYTES = 2 ** 20;

interface Options {
  tail: Tail;
  /** Whether the credentials of a request are still valid. */
  isAuthorized(request: FastifyRequest): Promise<boolean>;
}

export function tailRoutes({ tail, isAuthorized }: Options): Routes {
  return (app) => {
    app.addHook('preClose', async () => tail.close());

    app.post(
      '/api/v2/search/tail',
      {
        config: { operation: 'tailSearch', roles: DASHBOARD_READERS },
        schema: {
          tags: ['Search'],
          summary: 'Follow new rows',
          description:
            'Server-sent events, until the client disconnects; needs the header Accept: text/event-stream. rows: {data, ids}, new rows, oldest first. skipped: {count}, rows that are not shown because too many arrived or the client reads too slowly. notice: {message}. end: {reason}, the last event. A comment is sent every 15 seconds.',
          body: TailBody,
          response: {
            200: { description: 'A stream of events', content: { [EVENT_STREAM]: { schema: Type.String() } } },
            404: { ...DashboardFailure, description: 'The source does not exist' },
          },
        },
      },
      async (request, reply) => {
        if (!request.headers.accept?.includes(EVENT_STREAM)) throw new AppError('bad_request', ACCEPT_RULE);
        const { raw } = reply as unknown as FastifyReply;
        const stream = createEventStream(raw);
        const watch = await tail.watch(getClient(request, reply), request.body, stream.send);
        startStream(reply as unknown as FastifyReply);
        stream.open();
        for (const message of watch.notices) stream.send({ type: 'notice', message });
        const heartbeat = setInterval(stream.beat, HEARTBEAT_MS);
        const authorization = setInterval(async () => {
          if (!(await isAuthorized(request).catch(() => true)))
            stream.send({ type: 'end', reason: 'The credentials are no longer valid' });
        }, AUTHORIZE_EVERY_MS);
        const stop = () => {
          clearInterval(heartbeat);
          clearInterval(authorization);
          watch.stop();
        };
        raw.once('close', stop);
        // The client may have left while the first query ran.
        if (raw.destroyed) stop();
        return reply;
      },
    );
  };
}

function startStream(reply: FastifyReply): void {
  reply.headers({
    'content-type': `${EVENT_STREAM}; charset=utf-8`,
    'cache-control': 'no-store',
    // Proxies must not collect events.
    'x-accel-buffering': 'no',
  });
  reply.hijack();
  reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
}

/** Writes events. What a client does not read in time is skipped and counted. */
function createEventStream(raw: ServerResponse) {
  let isOpen = false;
  let skipped = 0;
  const isWritable = () => isOpen && !raw.writableEnded && !raw.destroyed;
  const write = ({ type, ...data }: TailEvent) => raw.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  return {
    open() {
      isOpen = true;
      raw.write(': connected\n\n');
    },
    /** Keeps proxies from closing the connection. */
    beat(): void {
      if (isWritable()) raw.write(': still here\n\n');
    },
    send(event: TailEvent): void {
      if (!isWritable()) return;
      if (event.type === 'end') {
        write(event);
        raw.end();
        return;
      }
      if (raw.writableLength > MAX_BUFFERED_BYTES) {
        skipped += event.type === 'rows' ? event.data.length : event.type === 'skipped' ? event.count : 0;
        return;
      }
      if (skipped > 0) write({ type: 'skipped', count: skipped });
      skipped = 0;
      write(event);
    },
  };
}
