import { type Clock, DAY_MS } from '../../../kernel/time/clock.ts';
import { checkRange } from '../../../kernel/time/query-range.ts';
import type { Engine, Statement } from '../../../platform/engine/engine.ts';
import type { EffectiveLimits, TelemetryLimitSettings } from '../limits/telemetry-limits.ts';
import { SIGNALS, type Signal } from '../wire/otlp-messages.ts';
import { MAX_RANGE_DAYS } from './telemetry-report.ts';
import { distinctStatement, dropStatement, peakStatement, reasonStatement, serviceStatement } from './usage-queries.ts';

const MAX_QUERY_SECONDS = 10;

interface Counted {
  signal: Signal;
  records: number;
  bytes: number;
}

/** How much of its limits an organization uses, by what, and what was not stored. Times are epoch milliseconds. */
export interface TelemetryUsage {
  from: number;
  to: number;
  signals: {
    signal: Signal;
    limits: EffectiveLimits;
    /** The most accepted records of a minute in the range; undefined if nothing was accepted. */
    peak: { rows: number; at: number } | undefined;
    /** Today, in UTC. */
    attributeKeys: number;
    streams: number | undefined;
    /** In the range, also those that are not listed. */
    removedAttributes: number;
  }[];
  /** Most bytes first. `share` is of the bytes of the signal, 0 to 1. */
  services: (Counted & { serviceName: string; share: number })[];
  rejections: (Counted & { reason: string })[];
  drops: (Counted & { rule: string })[];
  /** `records` is the number of attributes; the key is empty for further keys. */
  removedAttributes: (Counted & { key: string })[];
}

interface Options {
  engine: Pick<Engine, 'query'>;
  clock: Clock;
  limits: Pick<TelemetryLimitSettings, 'get'>;
}

export type TelemetryUsages = ReturnType<typeof createTelemetryUsages>;

export function createTelemetryUsages({ engine, clock, limits }: Options) {
  const query = (organizationId: string, statement: Statement) =>
    engine.query(statement, { organizationId, limits: { maxSeconds: MAX_QUERY_SECONDS } });

  return {
    /** A day by default. */
    async get(organizationId: string, range: { from?: number | undefined; to?: number | undefined }) {
      const to = range.to ?? clock.now();
      const from = range.from ?? to - DAY_MS;
      checkRange(from, to, MAX_RANGE_DAYS);
      const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      const filter = { organizationId, from, to };
      const statements = [serviceStatement, peakStatement, reasonStatement, dropStatement].map((build) =>
        build(filter),
      );
      const [applied, distinct, services = [], peaks = [], reasons = [], drops = []] = await Promise.all([
        limits.get(organizationId),
        query(organizationId, distinctStatement(organizationId, today)),
        ...statements.map((statement) => query(organizationId, statement)),
      ]);
      const count = (signal: Signal, kind: string) =>
        Number(distinct.find(([found, of]) => found === signal && of === kind)?.[2] ?? 0);
      const usage: TelemetryUsage = {
        from,
        to,
        signals: SIGNALS.map((signal) => ({
          signal,
          limits: applied[signal],
          peak: toPeak(peaks.find(([found]) => found === signal)),
          attributeKeys: count(signal, 'key'),
          streams: signal === 'metrics' ? count(signal, 'stream') : undefined,
          removedAttributes: Number(drops.find(([kind, found]) => kind === 'attribute' && found === signal)?.[5] ?? 0),
        })),
        services: services.map(([serviceName, signal, records, bytes, all]) => ({
          serviceName: String(serviceName),
          ...toCounted(signal, records, bytes),
          share: Number(bytes) / Math.max(1, Number(all)),
        })),
        rejections: reasons.map(([signal, reason, records, bytes]) => ({
          reason: String(reason),
          ...toCounted(signal, records, bytes),
        })),
        drops: drops.flatMap(([kind, signal, rule, records, bytes]) =>
          kind === 'rule' ? [{ rule: String(rule), ...toCounted(signal, records, bytes) }] : [],
        ),
        removedAttributes: drops.flatMap(([kind, signal, key, records, bytes]) =>
          kind === 'attribute' ? [{ key: String(key), ...toCounted(signal, records, bytes) }] : [],
        ),
      };
      return usage;
    },
  };
}

const toPeak = (row: unknown[] | undefined) => row && { rows: Number(row[1]), at: Number(row[2]) * 1000 };

const toCounted = (signal: unknown, records: unknown, bytes: unknown): Counted => ({
  signal: signal as Signal,
  records: Number(records),
  bytes: Number(bytes),
});
