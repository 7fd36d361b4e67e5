import { OWN_DATABASE, type Statement } from '../../../platform/engine/engine.ts';
import { SIGNAL_TABLES } from '../signal-tables.ts';
import type { Signal } from '../wire/otlp-messages.ts';

export const MAX_KEYS = 20;
/** Rows whose attributes are measured, per signal. */
const SAMPLE_ROWS = 100_000;
/** Rows are sampled in blocks: fewer, larger ones would miss services that send little, and the engine reads a granule of 8,192 rows for each. */
const BLOCK_ROWS = 512;
/** Bounds the memory: with more different keys, the smallest ones are estimated. */
const COUNTED_KEYS = 4096;

export const PLACES = ['resource', 'scope', 'record'] as const;
export type Place = (typeof PLACES)[number];

const RESOURCE = ['resource', 'ResourceAttributes'] as const;
const SCOPE = ['scope', 'ScopeAttributes'] as const;

/** The columns with attributes, by what they describe. */
const ATTRIBUTES: Record<Signal, readonly (readonly [place: Place, column: string])[]> = {
  logs: [RESOURCE, SCOPE, ['record', 'LogAttributes']],
  traces: [RESOURCE, ['record', 'SpanAttributes']],
  metrics: [RESOURCE, SCOPE, ['record', 'Attributes']],
};

export const SIGNAL_OF_TABLE: ReadonlyMap<string, Signal> = new Map(
  (Object.keys(SIGNAL_TABLES) as Signal[]).flatMap((signal) =>
    SIGNAL_TABLES[signal].tables.map((table) => [table, signal]),
  ),
);
const ALL = [...SIGNAL_OF_TABLE].map(([table, signal]) => ({ table, time: SIGNAL_TABLES[signal].time }));

/** Table, day, and the rows of the organization on that day. The primary key starts with the organization. */
export const rowStatement = (organizationId: string): Statement => ({
  sql: ALL.map(
    ({ table }) =>
      `SELECT '${table}', _partition_id, count() FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {organizationId:String} GROUP BY _partition_id`,
  ).join(' UNION ALL '),
  parameters: { organizationId },
});

/** Table, and its oldest row of the organization in epoch milliseconds. Reads one day of each table. */
export const oldestStatement = (organizationId: string): Statement => ({
  sql: ALL.map(({ table, time }) => {
    const rows = `FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {organizationId:String}`;
    return `SELECT '${table}', toUnixTimestamp64Milli(toDateTime64(min(${time}), 3)) ${rows} AND _partition_id = (SELECT min(_partition_id) ${rows}) HAVING count() > 0`;
  }).join(' UNION ALL '),
  parameters: { organizationId },
});

/** Place, key, and the different values of the keys in the sample of `keyStatement`. */
export function valueStatement(
  organizationId: string,
  signal: Signal,
  rows: number,
  keys: readonly string[],
): Statement {
  const items = ATTRIBUTES[signal].map(
    ([place, column]) => `arrayMap((k, v) -> ('${place}', toString(k), v), mapKeys(${column}), mapValues(${column}))`,
  );
  const sampled = sampleRows(signal, `arrayJoin(arrayConcat(${items.join(', ')})) AS item`);
  return {
    sql: `SELECT item.1 AS place, item.2 AS key, uniqCombined(12)(item.3) FROM (${sampled}) WHERE item.2 IN {keys:Array(String)} GROUP BY place, key`,
    parameters: { organizationId, every: chooseEvery(rows), keys },
  };
}

const chooseEvery = (rows: number): number => Math.max(1, Math.ceil(rows / SAMPLE_ROWS));

const sampleRows = (signal: Signal, columns: string): string =>
  SIGNAL_TABLES[signal].tables
    .map(
      (table) =>
        `SELECT ${columns} FROM ${OWN_DATABASE}.${table} PREWHERE OrganizationId = {organizationId:String} AND cityHash64(_part, intDiv(_part_offset, ${BLOCK_ROWS})) % {every:UInt32} = 0`,
    )
    .join(' UNION ALL ');

/**
 * The number of sampled rows, their bytes, and the places, names and bytes of the keys with the most bytes. Samples about 100,000 of
 * `rows`, from all parts, so that the sample has rows of all times.
 */
export function keyStatement(organizationId: string, signal: Signal, rows: number): Statement {
  const items = ATTRIBUTES[signal].map(
    ([place, column]) =>
      `arrayMap((k, v) -> ('${place}', toString(k), toUInt64(length(k) + length(v))), mapKeys(${column}), mapValues(${column}))`,
  );
  const sampled = sampleRows(signal, `byteSize(*) AS bytes, arrayConcat(${items.join(', ')}) AS items`);
  return {
    // Three arrays: how a tuple is written depends on the version of the engine.
    sql: `SELECT rows, bytes, arrayMap(key -> key.1.1, keys), arrayMap(key -> key.1.2, keys), arrayMap(key -> key.2, keys) FROM (SELECT count() AS rows, sum(bytes) AS bytes, approx_top_sumArray(${MAX_KEYS}, ${COUNTED_KEYS})(arrayMap(item -> (item.1, item.2), items), arrayMap(item -> item.3, items)) AS keys FROM (${sampled}))`,
    parameters: { organizationId, every: chooseEvery(rows) },
  };
}
