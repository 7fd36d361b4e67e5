import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import { TELEMETRY_ENTITY } from '../../management/billing/entity.ts';
import type { MeterName } from '../../management/billing/meter.ts';
import type { Intake } from '../../management/billing/metering/intake.ts';
import { type Engine, OWN_DATABASE, type Statement } from '../../platform/engine/engine.ts';
import { SIGNALS, type Signal } from './wire/otlp-messages.ts';

const EVERY_MS = MINUTE_MS;
/** Counts are stored a few seconds after their minute. */
const PAST_DAYS = 1;
/** For the first pass: the server may have been stopped for some time. */
const MAX_STOPPED_DAYS = 14;
const SOURCE = 'pilothouse-telemetry';
const LIMITS = { maxSeconds: 60, maxResultRows: 1_000_000 };

const METERS: Record<Signal, MeterName> = {
  logs: 'telemetryLogs',
  traces: 'telemetryTraces',
  metrics: 'telemetryMetrics',
};

interface Options {
  engine: Pick<Engine, 'query' | 'isRunning'>;
  intake: Pick<Intake, 'ingest'>;
  clock: Clock;
  log: { warn(details: object, text: string): void };
}

/** The bytes of one organization, day and signal. */
interface DayBytes {
  organizationId: string;
  /** In UTC, epoch milliseconds. */
  dayMs: number;
  signal: Signal;
  bytes: number;
}

const toKey = ({ organizationId, dayMs, signal }: Omit<DayBytes, 'bytes'>): string =>
  `${organizationId} ${dayMs} ${signal}`;

/**
 * Meters the telemetry that was stored, by signal: the bytes of the rows before compression, as `ingest_counts` has them. They are
 * exact and never change, while the size on disk depends on the rows of others and on merges.
 *
 * A pass sends the difference between what was counted for a day and what was metered for it, as an event whose id is the
 * amount that was metered before. So nothing has to be remembered: a pass that was interrupted is repeated by the next one, late
 * counts are added, and of several nodes that send the same difference, one counts.
 */
export function createTelemetryMetering({ engine, intake, clock, log }: Options) {
  /** What was counted when it was last metered: most organizations have sent nothing since. */
  let done = new Map<string, number>();
  let isCaughtUp = false;

  async function pass(): Promise<void> {
    // Without it nothing was received; it is not started for this.
    if (!engine.isRunning()) return;
    const from = (Math.floor(clock.now() / DAY_MS) - (isCaughtUp ? PAST_DAYS : MAX_STOPPED_DAYS)) * DAY_MS;
    const counted = toDayBytes(await engine.query(countedStatement(from), { limits: LIMITS }));
    const changed = counted.filter((day) => done.get(toKey(day)) !== day.bytes);
    const waiting: DayBytes[] = [];
    for (const organizationId of new Set(changed.map((day) => day.organizationId))) {
      const own = changed.filter((day) => day.organizationId === organizationId);
      const isDone = await meter(organizationId, own, from).catch((error: unknown) => {
        log.warn({ organizationId, reason: (error as Error).message }, 'failed to meter telemetry');
        return false;
      });
      if (!isDone) waiting.push(...own);
    }
    done = new Map(counted.map((day) => [toKey(day), day.bytes]));
    for (const day of waiting) done.delete(toKey(day));
    if (waiting.length === 0) isCaughtUp = true;
  }

  /** False if another node has sent an event with the same id, perhaps with another amount: the next pass compares again. */
  async function meter(organizationId: string, counted: readonly DayBytes[], from: number): Promise<boolean> {
    const rows = await engine.query(meteredStatement(organizationId, from), { limits: LIMITS });
    const metered = new Map(toDayBytes(rows).map((day) => [toKey(day), day.bytes]));
    const events = counted.flatMap((day) => toEvent(day, metered.get(toKey(day)) ?? 0, clock.now()) ?? []);
    if (events.length === 0) return true;
    const lines = events.map((event) => JSON.stringify(event));
    const { accepted, errors } = await intake.ingest(organizationId, () => lines.values());
    if (errors[0]) throw new Error(errors[0].reason);
    return accepted === events.length;
  }

  const loop = createBackgroundLoop({
    run: pass,
    everyMs: EVERY_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to meter telemetry'),
  });

  return {
    start: loop.start,
    /** Meters what is counted so far. */
    flush: loop.trigger,
    close: loop.close,
  };
}

function toEvent({ dayMs, signal, bytes }: DayBytes, metered: number, now: number) {
  if (bytes <= metered) return undefined;
  const { entityType, entityId } = TELEMETRY_ENTITY;
  return {
    id: `${toUtcDay(dayMs)}/${signal}/${metered}`,
    source: SOURCE,
    // On the day on which the telemetry was received; the clock of another node may be ahead of this one.
    time: new Date(Math.min(Math.max(now, dayMs), dayMs + DAY_MS - 1)).toISOString(),
    entityType,
    entityId,
    meter: METERS[signal],
    quantity: String(bytes - metered),
  };
}

const SINCE = (column: string) => `${column} >= toDateTime({from:UInt32}, 'UTC')`;

/** Organization, start of the day in epoch seconds, signal, accepted bytes. */
const countedStatement = (from: number): Statement => ({
  sql: `SELECT OrganizationId, toUnixTimestamp(toStartOfDay(Time, 'UTC')) AS day, Signal, sum(Bytes) FROM ${OWN_DATABASE}.ingest_counts WHERE Reason = '' AND ${SINCE('Time')} GROUP BY OrganizationId, day, Signal`,
  parameters: { from: from / 1000 },
});

/** The same of the events that were sent. Equal rows count once. */
const meteredStatement = (organizationId: string, from: number): Statement => ({
  sql: `SELECT OrganizationId, toUnixTimestamp(toStartOfDay(Time, 'UTC')) AS day, transform(Meter, {meters:Array(String)}, {signals:Array(String)}, '') AS signal, toUInt64(sum(Quantity)) FROM ${OWN_DATABASE}.usage_events FINAL WHERE OrganizationId = {organizationId:String} AND EntityType = {entityType:String} AND EntityId = {entityId:String} AND Source = {source:String} AND ${SINCE('Time')} GROUP BY OrganizationId, day, signal`,
  parameters: {
    organizationId,
    entityType: TELEMETRY_ENTITY.entityType,
    entityId: TELEMETRY_ENTITY.entityId,
    source: SOURCE,
    from: from / 1000,
    meters: SIGNALS.map((signal) => METERS[signal]),
    signals: [...SIGNALS],
  },
});

const toDayBytes = (rows: readonly unknown[][]): DayBytes[] =>
  rows.map(([organizationId, day, signal, bytes]) => ({
    organizationId: String(organizationId),
    dayMs: Number(day) * 1000,
    signal: signal as Signal,
    bytes: Number(bytes),
  }));
