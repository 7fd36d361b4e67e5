import { OWN_DATABASE, type Statement } from '../../../platform/engine/engine.ts';
import { type CountFilter, countRows } from './count-queries.ts';

export const MAX_SERVICES = 50;
export const MAX_REASONS = 50;
/** Of each signal: rules, and attribute keys. */
export const MAX_DROPS = 30;

type Range = Pick<CountFilter, 'organizationId' | 'from' | 'to'>;

/** Service, signal, accepted records, their bytes, and the bytes of all services of the signal. */
export function serviceStatement(range: Range): Statement {
  const { sql, parameters, service } = countRows(range);
  return {
    sql: `SELECT ${service} AS service, Signal, sum(Records), sum(Bytes) AS bytes, sum(sum(Bytes)) OVER (PARTITION BY Signal) ${sql} AND Reason = '' GROUP BY service, Signal ORDER BY bytes DESC, service, Signal LIMIT ${MAX_SERVICES}`,
    parameters,
  };
}

/** Signal, the most accepted records of a minute, and that minute in epoch seconds. */
export function peakStatement(range: Range): Statement {
  const { sql, parameters } = countRows(range);
  return {
    sql: `SELECT Signal, max(records), argMax(minute, records) FROM (SELECT Signal, toUnixTimestamp(Time) AS minute, sum(Records) AS records ${sql} AND Reason = '' GROUP BY Signal, minute) GROUP BY Signal`,
    parameters,
  };
}

/** Signal, reason, rejected records, their bytes. */
export function reasonStatement(range: Range): Statement {
  const { sql, parameters } = countRows(range);
  return {
    sql: `SELECT Signal, Reason, sum(Records) AS records, sum(Bytes) ${sql} AND Reason != '' GROUP BY Signal, Reason ORDER BY records DESC, Reason LIMIT ${MAX_REASONS}`,
    parameters,
  };
}

/** Kind, signal, the name of the rule or the key of the attribute, how many, their bytes, and how many of all names. */
export function dropStatement(range: Range): Statement {
  const { sql, parameters } = countRows(range, 'ingest_drops');
  return {
    sql: `SELECT Kind, Signal, Name, sum(Records) AS records, sum(Bytes), sum(sum(Records)) OVER (PARTITION BY Kind, Signal) ${sql} GROUP BY Kind, Signal, Name ORDER BY records DESC, Signal, Name LIMIT ${MAX_DROPS} BY Kind, Signal`,
    parameters,
  };
}

/** Signal, kind, and the different values of a day. */
export const distinctStatement = (organizationId: string, dayMs: number): Statement => ({
  sql: `SELECT Signal, Kind, uniqExact(Hash) FROM ${OWN_DATABASE}.ingest_series WHERE OrganizationId = {organizationId:String} AND Day = toDateTime({day:UInt32}, 'UTC') GROUP BY Signal, Kind`,
  parameters: { organizationId, day: Math.floor(dayMs / 1000) },
});
