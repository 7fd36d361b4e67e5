import { AppError } from '../../kernel/errors.ts';
import { createLargeCache } from '../../kernel/memo.ts';
import type { RateCounter } from '../../kernel/rate-counter.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../../kernel/time/clock.ts';
import type { TelemetryRule } from '../../management/organizations/organization.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { isRejectedInsert } from '../../platform/engine/failures.ts';
import { TABLES } from '../own-telemetry/rows.ts';
import { createByteLimit } from './byte-limit.ts';
import { createDiskSpace } from './disk-space.ts';
import { createIngestCounts } from './ingest-counts.ts';
import { createInsertQueue } from './insert-queue.ts';
import { createKnownValues } from './limits/known-values.ts';
import { createQuotas } from './limits/quota.ts';
import type { EffectiveLimits } from './limits/telemetry-limits.ts';
import type { OtlpRequest } from './transcode.ts';
import { createTranscoder } from './transcoder.ts';
import type { Transcoded } from './wire/batch.ts';
import type { Signal } from './wire/otlp-messages.ts';

const NANOS_PER_MS = 1e6;
/** The clock of a sender may be wrong. */
const MAX_FUTURE_MS = DAY_MS;
/** Of the bodies of all requests in progress, as they are read. */
const MAX_BODY_BYTES = 256 * 2 ** 20;
/** Longer waits would exceed the timeout of JavaScript SDKs, which then drop the data. */
const MAX_RETRY_SECONDS = 5;
const NOTHING = { accepted: 0, rejected: 0, rejections: [], dropped: [], removed: [] };
const UNCONFIRMED =
  'the engine did not confirm that records are stored: if their sender repeats the request, they may exist twice';
const DISCONNECTED =
  'a sender disconnected before its records were stored: if it repeats the request, they exist twice';
const TOO_MANY_KEYS = 'attributes are removed: the organization has reached its limit of attribute keys';
const TOO_MANY_STREAMS = 'data points are rejected: the organization has reached its limit of metric streams';
/** Organizations and signals whose warnings are remembered. */
const MAX_WARNED = 1000;

/** What applies to an organization and a signal. */
interface IngestPolicy {
  /** Rows that are older would be removed at once. */
  retentionDays: number;
  limits: EffectiveLimits;
  /** Enabled ones; undefined if there are none. */
  rules: readonly TelemetryRule[] | undefined;
}

interface Options {
  engine: Engine;
  clock: Clock;
  log: { warn(details: object, text: string): void };
  readPolicy(organizationId: string, signal: Signal): Promise<IngestPolicy>;
  /** Counts for all processes. */
  counter: RateCounter;
  /** Of the embedded engine. */
  engineDirectory: string | undefined;
  /** For the metrics of the server. */
  observe?: ((signal: Signal, received: Received) => void) | undefined;
  /** Called when rows of a table are stored. */
  announce?: ((organizationId: string, table: string) => void) | undefined;
}

/** Who sends. */
interface Sender {
  organizationId: string;
  tokenId: string;
  /** Whether it has disconnected: it cannot be told that its records are stored, and may send them again. */
  isGone(): boolean;
}

/** What became of a request. Accepted records are on disk. */
export type Received = Pick<Transcoded, 'accepted' | 'rejected' | 'rejections' | 'dropped' | 'removed'> & {
  /** Those that are stored, or may be, although their sender was not told. */
  unanswered: number;
};

export type Ingest = ReturnType<typeof createIngest>;

/** Receives OpenTelemetry data: converts a request into rows, stores them, and counts them for the Telemetry page. */
export function createIngest({ engine, clock, log, readPolicy, counter, engineDirectory, observe, announce }: Options) {
  const transcoder = createTranscoder();
  const bodies = createByteLimit(MAX_BODY_BYTES);
  const inserts = createInsertQueue({ engine, clock });
  const space = createDiskSpace({ directory: engineDirectory, clock });
  const counts = createIngestCounts({ engine, clock, log });
  const quotas = createQuotas({ counter, clock });
  const values = createKnownValues({ engine, clock, log });
  const warnedAt = createLargeCache<string, number>(MAX_WARNED);

  async function receive({ organizationId, tokenId, isGone }: Sender, request: OtlpRequest): Promise<Received> {
    const { signal } = request;
    inserts.requireSpace();
    await space.require();
    const { retentionDays, limits, rules } = await readPolicy(organizationId, signal);
    const rows = { organizationId, signal, unit: 'rows', limit: limits.rowsPerMinute } as const;
    await quotas.require(rows);
    await quotas.take({ ...rows, unit: 'bytes', limit: limits.bytesPerMinute }, request.body.length);
    const owner = { organizationId, signal };
    const [keys, streams] = await Promise.all([
      values.get({ ...owner, kind: 'key' }, limits.attributeKeysPerDay),
      signal === 'metrics' ? values.get({ ...owner, kind: 'stream' }, limits.streamsPerDay) : undefined,
    ]);
    const now = clock.now();
    const result = await transcoder.run(request, {
      organizationId,
      now: now * NANOS_PER_MS,
      oldest: (now - retentionDays * DAY_MS) * NANOS_PER_MS,
      newest: (now + MAX_FUTURE_MS) * NANOS_PER_MS,
      keys,
      streams,
      rules,
    });
    if (!('rows' in result)) throw new AppError(result.code, result.message);
    values.add({ ...owner, kind: 'key' }, result.newKeys);
    values.add({ ...owner, kind: 'stream' }, result.newStreams);
    // Again, because requests that arrived at the same time have used the limit since.
    await quotas.take(rows, result.accepted);
    await Promise.all(result.rows.map(inserts.add)).catch((error: unknown) => {
      // Some or all of them may be stored.
      if (result.rows.length > 1 || !isRejectedInsert(error)) {
        observe?.(signal, { ...NOTHING, unanswered: result.accepted });
        warn({ ...owner, tokenId }, undefined, UNCONFIRMED);
      }
      throw error;
    });
    for (const { table } of result.rows) announce?.(organizationId, TABLES[table]);
    const received = { ...result, unanswered: isGone() ? result.accepted : 0 };
    observe?.(signal, received);
    if (received.unanswered > 0) warn({ ...owner, tokenId }, undefined, DISCONNECTED);
    if (result.removed.length > 0) warn(owner, limits.attributeKeysPerDay, TOO_MANY_KEYS);
    if (result.refusedStreams > 0) warn(owner, limits.streamsPerDay, TOO_MANY_STREAMS);
    counts.add({ organizationId, tokenId, signal }, result);
    return received;
  }

  /** Once per hour for each organization, signal and text. */
  function warn(
    owner: { organizationId: string; signal: Signal; tokenId?: string },
    limit: number | undefined,
    text: string,
  ): void {
    const id = `${Object.values(owner).join(' ')} ${text}`;
    const now = clock.monotonicMs();
    if (now - (warnedAt.get(id) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return;
    warnedAt.set(id, now);
    log.warn({ ...owner, limit }, text);
  }

  return {
    /** Throws errors that a sender can act on: what a retry would cure is `unavailable` or `too_many_requests`. */
    async receive(sender: Sender, request: OtlpRequest): Promise<Received> {
      const { organizationId, tokenId } = sender;
      try {
        return await receive(sender, request);
      } catch (error) {
        if (error instanceof AppError && error.code !== 'unavailable')
          counts.addRefused({ organizationId, tokenId, signal: request.signal }, error.message, request.body.length);
        throw toSenderError(error);
      }
    },

    /** The memory for bodies: routes require it before they read one, and hold it while they do. */
    bodies,

    listWarnings: space.listWarnings,

    async close(): Promise<void> {
      await transcoder.close();
      await counts.close();
      await values.close();
    },
  };
}

/** Whatever the engine objects to, it is not the sender's fault, and a later attempt may succeed. */
function toSenderError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { code, message, retryAfterSeconds = 1 } = error;
  if (code === 'payload_too_large' || (code === 'bad_request' && error.cause === undefined)) return error;
  const isQuota = code === 'too_many_requests';
  return new AppError(isQuota ? code : 'unavailable', message, {
    cause: error.cause ?? error,
    retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, retryAfterSeconds),
  });
}
