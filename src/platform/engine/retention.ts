import type { ClickHouseClient } from '@clickhouse/client';
import { OWN_DATABASE } from './engine.ts';
import { listOwnTables } from './own-tables.ts';

/** How ClickHouse prints the expression of our migrations. */
const TTL = /\bTTL toDateTime\((\w+)\) \+ toIntervalDay\((\d+)\)/;

/** Sets how long the telemetry tables keep their rows. Tables without a limit, such as usage events, stay without one. */
export async function applyRetention(
  client: ClickHouseClient,
  days: number,
  abort_signal: AbortSignal,
): Promise<string[]> {
  const changed: string[] = [];
  const { tables, derived } = listOwnTables();
  for (const table of [...tables, ...derived]) {
    const result = await client.query({
      query: `SHOW CREATE TABLE ${OWN_DATABASE}.${table}`,
      format: 'TabSeparatedRaw',
      abort_signal,
    });
    const [, column, current] = TTL.exec(await result.text()) ?? [];
    if (column === undefined || Number(current) === days) continue;
    const expression = `toDateTime(${column}) + INTERVAL ${days} DAY`;
    await client.command({ query: `ALTER TABLE ${OWN_DATABASE}.${table} MODIFY TTL ${expression}`, abort_signal });
    changed.push(table);
  }
  return changed;
}
