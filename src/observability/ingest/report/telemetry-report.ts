import { AppError } from '../../../kernel/errors.ts';
import { type Clock, HOUR_MS } from '../../../kernel/time/clock.ts';
import { checkRange } from '../../../kernel/time/query-range.ts';
import type { Engine, Statement } from '../../../platform/engine/engine.ts';
import { SIGNALS, type Signal } from '../wire/otlp-messages.ts';
import {
  bucketStatement,
  type CountFilter,
  chooseBucketSeconds,
  rejectionStatement,
  senderStatement,
} from './count-queries.ts';
import {
  keyStatement,
  MAX_KEYS,
  oldestStatement,
  type Place,
  rowStatement,
  SIGNAL_OF_TABLE,
  valueStatement,
} from './storage-queries.ts';

/** Counts are kept for 90 days. */
export const MAX_RANGE_DAYS = 90;
const MAX_QUERY_SECONDS = 10;

interface Amounts {
  acceptedRecords: number;
  /** Of the rows, before compression. */
  acceptedBytes: number;
  rejectedRecords: number;
  rejectedBytes: number;
}

interface Origin {
  tokenId: string;
  serviceName: string;
  signal: Signal;
}

/** What was received in a time range. Times are epoch milliseconds; those of the last record are the start of its minute. */
export interface TelemetryReport {
  from: number;
  to: number;
  bucketSeconds: number;
  buckets: (Amounts & { start: number; signal: Signal })[];
  senders: (Amounts & Origin & { lastReceivedAt: number })[];
  senderCount: number;
  rejections: (Origin & { reason: string; records: number; bytes: number; sample: string; lastReceivedAt: number })[];
}

interface SignalStorage {
  signal: Signal;
  rows: number;
  /** Undefined if the engine does not tell. */
  bytesOnDisk: number | undefined;
  oldestAt: number | undefined;
}

interface AttributeKey {
  signal: Signal;
  place: Place;
  key: string;
  /** Of the key and its values in all rows, before compression. */
  bytes: number;
  /** Of the bytes of all rows of the signal, before compression; 0 to 1. */
  share: number;
  /** In the sample. */
  distinctValues: number;
}

/** What an organization has stored. */
export interface TelemetryStorage {
  signals: SignalStorage[];
  /** Undefined if they could not be measured in time. */
  attributeKeys: AttributeKey[] | undefined;
}

type ReportRequest = Partial<Pick<CountFilter, 'from' | 'to' | 'tokenId' | 'serviceName' | 'signal'>>;

export type TelemetryReports = ReturnType<typeof createTelemetryReports>;

/** What was received and what is stored, for the Telemetry page. */
export function createTelemetryReports({
  engine,
  clock,
}: {
  engine: Pick<Engine, 'query' | 'listPartitions'>;
  clock: Clock;
}) {
  const limits = { maxSeconds: MAX_QUERY_SECONDS };
  const query = (organizationId: string, statement: Statement) => engine.query(statement, { organizationId, limits });

  /** The bytes on disk of each day of each table, of all organizations. Undefined if the ClickHouse user may not read them. */
  async function readParts(organizationId: string): Promise<Map<string, number> | undefined> {
    const tables = [...SIGNAL_OF_TABLE.keys()];
    const parts = await engine.listPartitions(tables, { organizationId, limits }).catch(ignoreRejection);
    return (
      parts && new Map(parts.map(([table, day, rows, bytes]) => [`${table} ${day}`, Number(bytes) / Number(rows)]))
    );
  }

  async function readKeys(organizationId: string, { signal, rows }: SignalStorage): Promise<AttributeKey[]> {
    if (rows === 0) return [];
    const [result = []] = await query(organizationId, keyStatement(organizationId, signal, rows));
    const [sampledRows, sampledBytes, places, names, sizes] = result as [number, number, Place[], string[], number[]];
    const values = await query(organizationId, valueStatement(organizationId, signal, rows, names));
    const distinct = new Map(values.map(([place, key, count]) => [`${place} ${key}`, Number(count)]));
    return names.map((key, index) => {
      const bytes = Number(sizes[index]);
      return {
        signal,
        place: places[index] as Place,
        key,
        bytes: Math.round((bytes * rows) / Math.max(1, Number(sampledRows))),
        share: bytes / Math.max(1, Number(sampledBytes)),
        distinctValues: distinct.get(`${places[index]} ${key}`) ?? 0,
      };
    });
  }

  return {
    async getReport(organizationId: string, { to = clock.now(), ...request }: ReportRequest): Promise<TelemetryReport> {
      const from = request.from ?? to - HOUR_MS;
      checkRange(from, to, MAX_RANGE_DAYS);
      const filter = { ...request, organizationId, from, to };
      const bucketSeconds = chooseBucketSeconds(filter);
      const [buckets, senders, rejections] = await Promise.all([
        query(organizationId, bucketStatement(filter, bucketSeconds)),
        query(organizationId, senderStatement(filter)),
        query(organizationId, rejectionStatement(filter)),
      ]);
      return {
        from,
        to,
        bucketSeconds,
        buckets: buckets.map(([start, signal, ...amounts]) => ({
          start: toMs(start),
          signal: signal as Signal,
          ...toAmounts(amounts),
        })),
        senders: senders.map(([tokenId, serviceName, signal, ...rest]) => ({
          ...toOrigin(tokenId, serviceName, signal),
          ...toAmounts(rest),
          lastReceivedAt: toMs(rest[4]),
        })),
        senderCount: Number(senders[0]?.[8] ?? 0),
        rejections: rejections.map(([tokenId, serviceName, signal, reason, records, bytes, sample, last]) => ({
          ...toOrigin(tokenId, serviceName, signal),
          reason: String(reason),
          records: Number(records),
          bytes: Number(bytes),
          sample: String(sample),
          lastReceivedAt: toMs(last),
        })),
      };
    },

    async getStorage(organizationId: string): Promise<TelemetryStorage> {
      const [days, oldest, bytesPerRow] = await Promise.all([
        query(organizationId, rowStatement(organizationId)),
        query(organizationId, oldestStatement(organizationId)),
        readParts(organizationId),
      ]);
      const signals = SIGNALS.map((signal): SignalStorage => {
        const own = days.filter(([table]) => SIGNAL_OF_TABLE.get(String(table)) === signal);
        const times = oldest.flatMap(([table, ms]) =>
          SIGNAL_OF_TABLE.get(String(table)) === signal ? [Number(ms)] : [],
        );
        return {
          signal,
          rows: own.reduce((sum, [, , rows]) => sum + Number(rows), 0),
          bytesOnDisk:
            bytesPerRow &&
            Math.round(
              own.reduce(
                (sum, [table, day, rows]) => sum + Number(rows) * (bytesPerRow.get(`${table} ${day}`) ?? 0),
                0,
              ),
            ),
          oldestAt: times.length === 0 ? undefined : Math.min(...times),
        };
      });
      const keys = await Promise.all(signals.map((signal) => readKeys(organizationId, signal))).catch(ignoreRejection);
      const attributeKeys = keys
        ?.flat()
        .sort((a, b) => b.bytes - a.bytes)
        .slice(0, MAX_KEYS);
      return { signals, attributeKeys };
    },
  };
}

/** The engine rejects a statement that exceeds a limit or needs a privilege: the rest of the report is still of use. */
function ignoreRejection(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'bad_request')) throw error;
}

const toMs = (seconds: unknown): number => Number(seconds) * 1000;

const toOrigin = (tokenId: unknown, serviceName: unknown, signal: unknown): Origin => ({
  tokenId: String(tokenId),
  serviceName: String(serviceName),
  signal: signal as Signal,
});

const toAmounts = ([records, bytes, rejectedRecords, rejectedBytes]: unknown[]): Amounts => ({
  acceptedRecords: Number(records),
  acceptedBytes: Number(bytes),
  rejectedRecords: Number(rejectedRecords),
  rejectedBytes: Number(rejectedBytes),
});
