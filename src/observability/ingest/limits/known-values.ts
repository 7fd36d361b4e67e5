import { LRUCache } from 'lru-cache';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import { type Engine, OWN_DATABASE } from '../../../platform/engine/engine.ts';
import type { DistinctLimit, NewValue } from '../wire/distinct.ts';
import type { Signal } from '../wire/otlp-messages.ts';
import { SharedHashes } from '../wire/shared-hashes.ts';

/** Of attributes, or streams of metrics. */
type ValueKind = 'key' | 'stream';

interface Owner {
  organizationId: string;
  signal: Signal;
  kind: ValueKind;
}

interface Known extends Owner {
  /** Start of the day in UTC. */
  dayMs: number;
  capacity: number;
  memory: SharedArrayBuffer;
  hashes: SharedHashes;
  ready: Promise<void>;
  usedAt: number;
}

interface Options {
  engine: Pick<Engine, 'query' | 'insert'>;
  clock: Clock;
  log: { warn(details: object, text: string): void };
}

/** Of all organizations. Those that were used least recently are read again when they are needed. */
const MAX_BYTES = 256 * 2 ** 20;
const WRITE_EVERY_MS = 2 * SECOND_MS;
const WRITES_PER_REFRESH = 5;
/** Of an insert. */
const MAX_ROWS = 20_000;
const MAX_NAME_CHARACTERS = 200;
/** The clock of this process may be ahead of the engine's, and values are stored some seconds after they were received. */
const REFRESH_MARGIN_MS = MINUTE_MS;
/** Values of organizations that have sent nothing since are not read. */
const ACTIVE_MS = 5 * MINUTE_MS;
const MAX_READ_ROWS = 2_000_000;

const toKey = ({ organizationId, signal, kind }: Owner): string => `${kind} ${signal} ${organizationId}`;
const toSeconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * The attribute keys and metric streams that each organization has sent today, on any node. They are in the engine; a process reads them once a
 * day, and every ten seconds those that other processes have added. What was not written when a process is killed, about two seconds, is forgotten.
 * Must be closed.
 */
export function createKnownValues({ engine, clock, log }: Options) {
  const all = new LRUCache<string, Known>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ memory }) => memory.byteLength,
  });
  let rows: object[] = [];
  let writes = 0;
  let refreshedAt = clock.now();

  function create(owner: Owner, dayMs: number, capacity: number): Known {
    const memory = SharedHashes.allocate(capacity);
    const hashes = new SharedHashes(memory);
    const ready = read(owner, dayMs, hashes);
    return { ...owner, dayMs, capacity, memory, hashes, ready, usedAt: clock.now() };
  }

  async function read({ organizationId, signal, kind }: Owner, dayMs: number, into: SharedHashes): Promise<void> {
    const found = await engine.query(
      {
        sql: `SELECT DISTINCT Hash FROM ${OWN_DATABASE}.ingest_series WHERE OrganizationId = {organizationId:String} AND Signal = {signal:String} AND Kind = {kind:String} AND Day = toDateTime({day:UInt32}, 'UTC')`,
        parameters: { organizationId, signal, kind, day: toSeconds(dayMs) },
      },
      { limits: { maxResultRows: MAX_READ_ROWS } },
    );
    for (const [hash] of found) into.add(Number(hash));
  }

  /** Adds what other processes have stored since the last time. */
  async function refresh(): Promise<void> {
    const now = clock.now();
    const active = [...all.values()].filter(({ usedAt }) => usedAt > now - ACTIVE_MS);
    if (active.length > 0) {
      const found = await engine.query(
        {
          sql: `SELECT OrganizationId, Signal, Kind, toUnixTimestamp(Day), Hash FROM ${OWN_DATABASE}.ingest_series WHERE OrganizationId IN {organizations:Array(String)} AND Day >= toDateTime({day:UInt32}, 'UTC') AND StoredAt >= toDateTime({since:UInt32}, 'UTC')`,
          parameters: {
            organizations: [...new Set(active.map(({ organizationId }) => organizationId))],
            day: toSeconds(Math.min(...active.map(({ dayMs }) => dayMs))),
            since: toSeconds(refreshedAt - REFRESH_MARGIN_MS),
          },
        },
        { limits: { maxResultRows: MAX_READ_ROWS } },
      );
      for (const [organizationId, signal, kind, day, hash] of found as [string, Signal, ValueKind, number, number][]) {
        const known = all.peek(toKey({ organizationId, signal, kind }));
        if (known?.dayMs === day * 1000) known.hashes.add(hash);
      }
    }
    refreshedAt = now;
  }

  async function write(): Promise<void> {
    while (rows.length > 0) {
      const written = rows.splice(0, MAX_ROWS);
      try {
        await engine.insert('ingest_series', written);
      } catch (error) {
        rows = [...written, ...rows];
        throw error;
      }
    }
  }

  const loop = createBackgroundLoop({
    async run() {
      await write();
      if (++writes % WRITES_PER_REFRESH === 0) await refresh();
    },
    everyMs: WRITE_EVERY_MS,
    onError: (error) =>
      log.warn({ err: error }, 'failed to store the attribute keys and streams of received telemetry'),
  });
  loop.startAfterPause();

  return {
    /** Undefined without a limit. Throws `unavailable` if the engine cannot be read. */
    async get(owner: Owner, limit: number | undefined): Promise<DistinctLimit | undefined> {
      if (limit === undefined) return undefined;
      const key = toKey(owner);
      const dayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      let known = all.get(key);
      if (known?.dayMs !== dayMs || known.capacity < limit) {
        known = create(owner, dayMs, limit);
        all.set(key, known);
      }
      known.usedAt = clock.now();
      try {
        await known.ready;
      } catch (error) {
        if (all.peek(key) === known) all.delete(key);
        throw error;
      }
      return { hashes: known.memory, limit };
    },

    add({ organizationId, signal, kind }: Owner, values: readonly NewValue[]): void {
      const day = new Date(Math.floor(clock.now() / DAY_MS) * DAY_MS).toISOString();
      for (const { hash, name } of values)
        rows.push({
          OrganizationId: organizationId,
          Day: day,
          Signal: signal,
          Kind: kind,
          Hash: hash >>> 0,
          Name: name.slice(0, MAX_NAME_CHARACTERS).toWellFormed(),
        });
    },

    async close(): Promise<void> {
      await loop.close();
      await write().catch(() => {});
    },
  };
}
