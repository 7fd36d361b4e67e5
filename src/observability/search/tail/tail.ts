import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { type Engine, OWN_DATABASE } from '../../../platform/engine/engine.ts';
import { createDraft, queryError } from '../../charts/queries/draft.ts';
import type { Table } from '../../charts/queries/series-query.ts';
import type { QueryClient } from '../../charts/shared-queries.ts';
import type { TelemetryQueries } from '../../charts/telemetry-queries.ts';
import type { TailBody } from '../schema.ts';
import { defaultSelect, resolveEvents, toQuery } from '../search-query.ts';
import { parseSelect } from '../select-list.ts';
import { createTailFeed, type TailFeed } from './tail-feed.ts';
import { createTailWatcher, type SendEvent } from './tail-watcher.ts';

/** Of this process. */
const MAX_PER_CREDENTIAL = 10;
const MAX_PER_ORGANIZATION = 50;

/** Of all conditions: they are parsed for every check. */
const MAX_CHARACTERS = 8192;

interface Options {
  engine: Pick<Engine, 'query'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  queries: TelemetryQueries;
}

/** A client that is sent new rows until it stops. */
interface Watch {
  client: Pick<QueryClient, 'organizationId' | 'credentialId'>;
  send: SendEvent;
  stop(): void;
}

export type Tail = ReturnType<typeof createTail>;

/** Sends new rows to clients. */
export function createTail({ engine, clock, log, queries }: Options) {
  /** By organization, table and time column. */
  const feeds = new Map<string, { feed: TailFeed; users: number }>();
  const watches = new Set<Watch>();
  let isClosed = false;

  function rejectTooMany({ organizationId, credentialId }: Watch['client']): void {
    const own = [...watches].filter(({ client }) => client.organizationId === organizationId);
    const ofCredential = own.filter(({ client }) => client.credentialId === credentialId).length;
    const [count, max, owner] =
      own.length >= MAX_PER_ORGANIZATION
        ? [own.length, MAX_PER_ORGANIZATION, 'organization']
        : [ofCredential, MAX_PER_CREDENTIAL, 'token'];
    if (count >= max)
      throw new AppError('too_many_requests', `This ${owner} already has ${max} live tails`, { retryAfterSeconds: 10 });
  }

  function takeFeed(key: string, organizationId: string, table: Table): TailFeed {
    const known = feeds.get(key) ?? { feed: createTailFeed({ engine, clock, log, organizationId, table }), users: 0 };
    known.users++;
    feeds.set(key, known);
    return known.feed;
  }

  function releaseFeed(key: string): void {
    const known = feeds.get(key);
    if (!known || --known.users > 0) return;
    feeds.delete(key);
    void known.feed.close();
  }

  return {
    /** Sends the rows that are accepted after it has resolved. Throws if the query is not valid, or for too many clients. */
    async watch(
      client: QueryClient,
      body: TailBody,
      send: SendEvent,
    ): Promise<Pick<Watch, 'stop'> & { notices: string[] }> {
      if (isClosed) throw stopping();
      const { organizationId, credentialId } = client;
      const resolved = await resolveEvents(queries, organizationId, body.sourceId);
      const now = clock.now();
      const query = toQuery(organizationId, resolved, body, { startMs: now, endMs: now + 1 });
      const select = body.select?.trim() ? body.select : defaultSelect(resolved);
      if ([query.where, ...(query.filters ?? [])].join('').length > MAX_CHARACTERS)
        throw queryError('filters', `The conditions of a live tail together have at most ${MAX_CHARACTERS} characters`);
      const columns = parseSelect(createDraft(query), resolved.table, select);
      rejectTooMany(client);
      const { database, name, timeColumn } = resolved.table;
      const key = createKey(organizationId, database, name, timeColumn);
      const watcher = createTailWatcher({ query, select }, columns, send);
      const feed = takeFeed(key, organizationId, resolved.table);
      let isStopped = false;
      const watch: Watch = {
        client: { organizationId, credentialId },
        send,
        stop() {
          if (isStopped) return;
          isStopped = true;
          watches.delete(watch);
          feed.remove(watcher);
          releaseFeed(key);
        },
      };
      watches.add(watch);
      try {
        await feed.add(watcher, client.signal);
      } catch (error) {
        watch.stop();
        throw error;
      }
      // `close` could not end a stream that had not started.
      if (isStopped) throw stopping();
      return { stop: watch.stop, notices: feed.listNotices() };
    },

    /** Rows of the organization were stored in one of our tables. */
    announce(organizationId: string, table: string): void {
      const prefix = createKey(organizationId, OWN_DATABASE, table, '');
      for (const [key, { feed }] of feeds) if (key.startsWith(prefix)) feed.announce();
    },

    /** Ends all streams. */
    close(): void {
      isClosed = true;
      for (const watch of [...watches]) {
        watch.send({ type: 'end', reason: 'The server is stopping' });
        watch.stop();
      }
    },
  };
}

const stopping = (): AppError => new AppError('unavailable', 'The server is stopping', { retryAfterSeconds: 1 });

const createKey = (...parts: string[]): string => parts.join(' ');
