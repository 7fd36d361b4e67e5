import { ORGANIZATION_COLUMN, OWN_DATABASE } from '../engine.ts';
import { getOnlyRow } from '../result.ts';

/** A table with the columns that an INSERT can set. */
export interface EngineTable {
  name: string;
  columns: string[];
  /** The column that divides the table into partitions by time. */
  timeColumn: string | undefined;
  /** Columns whose values can be hashed. */
  plainColumns: string[];
}

/** Some rows of a table. */
export interface Chunk {
  organizations?: string[];
  /** Epoch milliseconds; `to` is not included. */
  time?: { from: number; to: number };
  /** Rows whose hash modulo `count` is `index`. */
  hash?: { count: number; index: number };
}

/** Runs a query and returns the fields of its rows. */
type ReadFields = (sql: string, parameters: Record<string, unknown>) => Promise<string[][]>;

/** A ClickHouse server accepts parameters of up to 128 KiB. */
const MAX_ORGANIZATIONS = 1000;

const SECOND_MS = 1000;
/** The lengths of the time ranges into which too many rows are divided, one after the other. */
const RANGES_MS = [86_400 * SECOND_MS, 3600 * SECOND_MS, 60 * SECOND_MS];

/**
 * Divides a table into chunks of about `maxRows` rows, in the order of its primary key: by organization, then by day,
 * hour and minute, and at last by hash. Rows that are inserted meanwhile may be in a chunk or not.
 */
export async function* planChunks(
  table: EngineTable,
  maxRows: number,
  readFields: ReadFields,
  isWanted: (organizationId: string) => boolean,
): AsyncGenerator<Chunk> {
  const hasOrganization = table.columns.includes(ORGANIZATION_COLUMN);
  if (!hasOrganization) return yield* splitByTime({}, 0);
  let small: string[] = [];
  let smallRows = 0;
  const sql = `SELECT ${ORGANIZATION_COLUMN}, count() FROM ${OWN_DATABASE}.${table.name} GROUP BY 1 ORDER BY 1`;
  for (const [organizationId = '', count] of await readFields(sql, {})) {
    if (!isWanted(organizationId)) continue;
    const isFull = small.length === MAX_ORGANIZATIONS || smallRows + Number(count) > maxRows;
    if (small.length > 0 && isFull) {
      yield { organizations: small };
      [small, smallRows] = [[], 0];
    }
    if (Number(count) > maxRows) yield* splitByTime({ organizations: [organizationId] }, 0);
    else {
      small.push(organizationId);
      smallRows += Number(count);
    }
  }
  if (small.length > 0) yield { organizations: small };

  async function* splitByTime(chunk: Chunk, level: number): AsyncGenerator<Chunk> {
    const lengthMs = RANGES_MS[level];
    if (table.timeColumn === undefined || lengthMs === undefined) return yield* splitByHash(chunk);
    const { where, parameters } = formatCondition(table, chunk);
    const ms = `toUnixTimestamp64Milli(${table.timeColumn})`;
    const rows = await readFields(
      `SELECT ${ms} - positiveModulo(${ms}, ${lengthMs}), count() FROM ${OWN_DATABASE}.${table.name} ${where} GROUP BY 1 ORDER BY 1`,
      parameters,
    );
    let time: { from: number; to: number } | undefined;
    let count = 0;
    for (const [from, to, rowCount] of rows.map(([start, n]) => [
      Number(start),
      Number(start) + lengthMs,
      Number(n),
    ]) as [number, number, number][]) {
      if (time && count + rowCount > maxRows) {
        yield { ...chunk, time };
        [time, count] = [undefined, 0];
      }
      if (rowCount > maxRows) yield* splitByTime({ ...chunk, time: { from, to } }, level + 1);
      else {
        time = { from: time?.from ?? from, to };
        count += rowCount;
      }
    }
    if (time) yield { ...chunk, time };
  }

  async function* splitByHash(chunk: Chunk): AsyncGenerator<Chunk> {
    const { where, parameters } = formatCondition(table, chunk);
    const counted = await readFields(`SELECT count() FROM ${OWN_DATABASE}.${table.name} ${where}`, parameters);
    const [rows] = getOnlyRow(counted);
    const count = Math.ceil(Number(rows) / maxRows);
    for (let index = 0; index < count; index++) yield count === 1 ? chunk : { ...chunk, hash: { count, index } };
  }
}

/** The WHERE clause of a chunk; empty for all rows. */
export function formatCondition({ timeColumn, plainColumns }: EngineTable, { organizations, time, hash }: Chunk) {
  const conditions: string[] = [];
  const parameters: Record<string, unknown> = {};
  if (organizations) {
    conditions.push(`${ORGANIZATION_COLUMN} IN ({organizations:Array(String)})`);
    parameters.organizations = organizations;
  }
  if (time) {
    conditions.push(
      `${timeColumn} >= fromUnixTimestamp64Milli({from:Int64}) AND ${timeColumn} < fromUnixTimestamp64Milli({to:Int64})`,
    );
    Object.assign(parameters, time);
  }
  if (hash) {
    conditions.push(`cityHash64(${plainColumns.join(', ')}) % {count:UInt64} = {index:UInt64}`);
    Object.assign(parameters, hash);
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', parameters };
}
