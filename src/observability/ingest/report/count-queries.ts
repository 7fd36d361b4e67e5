import { OWN_DATABASE, type Statement } from '../../../platform/engine/engine.ts';
import type { Signal } from '../wire/otlp-messages.ts';

export const MAX_SENDERS = 100;
export const MAX_REJECTIONS = 50;
/** `ingest_counts` has a row per minute. Every range that is allowed has at most 120 buckets of one of these lengths. */
const BUCKET_SECONDS = [60, 300, 900, 3600, 6 * 3600, 24 * 3600] as const;
const MAX_BUCKETS = 120;
/** Of a service name: senders may choose names of up to 256 KiB. */
const SERVICE = 'leftUTF8(ServiceName, 200)';
/** The last time of a DateTime. */
const MAX_SECONDS = 2 ** 32 - 1;

/** Which counts to read. Times are epoch milliseconds; `to` is exclusive. */
export interface CountFilter {
  organizationId: string;
  from: number;
  to: number;
  tokenId?: string | undefined;
  serviceName?: string | undefined;
  signal?: Signal | undefined;
}

export const chooseBucketSeconds = ({ from, to }: Pick<CountFilter, 'from' | 'to'>): number =>
  BUCKET_SECONDS.find((seconds) => (to - from) / 1000 / seconds <= MAX_BUCKETS) ?? 24 * 3600;

const toSeconds = (ms: number): number => Math.min(MAX_SECONDS, Math.max(0, Math.floor(ms / 1000)));

/** Conditions of fixed text; what a client gives is bound. */
function from(filter: CountFilter, table = 'ingest_counts'): Statement {
  const { organizationId, tokenId, serviceName, signal } = filter;
  const conditions = [
    'OrganizationId = {organizationId:String}',
    "Time >= toDateTime({from:UInt32}, 'UTC')",
    "Time < toDateTime({to:UInt32}, 'UTC')",
    ...(tokenId === undefined ? [] : ['TokenId = {tokenId:String}']),
    ...(serviceName === undefined ? [] : [`${SERVICE} = {serviceName:String}`]),
    ...(signal === undefined ? [] : ['Signal = {signal:String}']),
  ];
  return {
    sql: `FROM ${OWN_DATABASE}.${table} WHERE ${conditions.join(' AND ')}`,
    parameters: {
      organizationId,
      // Rows have the start of their minute.
      from: toSeconds(filter.from - (filter.from % 60_000)),
      to: toSeconds(filter.to),
      ...(tokenId === undefined ? {} : { tokenId }),
      ...(serviceName === undefined ? {} : { serviceName }),
      ...(signal === undefined ? {} : { signal }),
    },
  };
}

/** The counts of a range, and the name of their service. */
export const countRows = (range: CountFilter, table?: 'ingest_drops') => ({ ...from(range, table), service: SERVICE });

/** Rows with a reason were rejected. */
const AMOUNTS =
  "sumIf(Records, Reason = ''), sumIf(Bytes, Reason = ''), sumIf(Records, Reason != ''), sumIf(Bytes, Reason != '')";

/** Start in epoch seconds, signal, accepted records and bytes, rejected records and bytes. */
export function bucketStatement(filter: CountFilter, bucketSeconds: number): Statement {
  const { sql, parameters } = from(filter);
  return {
    sql: `SELECT intDiv(toUnixTimestamp(Time), {step:UInt32}) * {step:UInt32} AS start, Signal, ${AMOUNTS} ${sql} GROUP BY start, Signal ORDER BY start, Signal`,
    parameters: { ...parameters, step: bucketSeconds },
  };
}

/** Token, service, signal, accepted records and bytes, rejected records and bytes, the last minute, the number of senders. */
export function senderStatement(filter: CountFilter): Statement {
  const { sql, parameters } = from(filter);
  return {
    sql: `SELECT TokenId, ${SERVICE} AS service, Signal, ${AMOUNTS}, toUnixTimestamp(max(Time)), count() OVER () ${sql} GROUP BY TokenId, service, Signal ORDER BY sum(Records) DESC, TokenId, service, Signal LIMIT ${MAX_SENDERS}`,
    parameters,
  };
}

/** Token, service, signal, reason, records, bytes, a sample, the last minute. */
export function rejectionStatement(filter: CountFilter): Statement {
  const { sql, parameters } = from(filter);
  return {
    sql: `SELECT TokenId, ${SERVICE} AS service, Signal, Reason, sum(Records), sum(Bytes), argMax(Sample, Time), toUnixTimestamp(max(Time)) AS last ${sql} AND Reason != '' GROUP BY TokenId, service, Signal, Reason ORDER BY sum(Records) DESC, last DESC, Reason LIMIT ${MAX_REJECTIONS}`,
    parameters,
  };
}
