import type { Connection } from '../backends/backend.ts';
import { CLUSTER_SETTINGS } from '../cluster/cluster.ts';
import { createStatements, toLocalName } from '../cluster/cluster-statements.ts';
import { OWN_DATABASE } from '../engine.ts';
import { listOwnTables } from './own-tables.ts';

/** How ClickHouse prints the expression of our migrations. */
const TTL = /\bTTL toDateTime\((\w+)\) \+ toIntervalDay\((\d+)\)/;

/** Sets how long the telemetry tables keep their rows. Tables without a limit, such as usage events, stay without one. */
export async function applyRetention(
  { writer: client, cluster }: Pick<Connection, 'writer' | 'cluster'>,
  days: number,
  abort_signal: AbortSignal,
): Promise<string[]> {
  const changed: string[] = [];
  const toStatements = createStatements(cluster);
  const { tables, derived } = listOwnTables();
  for (const table of [...tables, ...derived]) {
    const result = await client.query({
      query: `SHOW CREATE TABLE ${OWN_DATABASE}.${cluster === undefined ? table : toLocalName(table)}`,
      format: 'TabSeparatedRaw',
      abort_signal,
    });
    const [, column, current] = TTL.exec(await result.text()) ?? [];
    if (column === undefined || Number(current) === days) continue;
    const expression = `toDateTime(${column}) + INTERVAL ${days} DAY`;
    const clickhouse_settings = cluster === undefined ? {} : CLUSTER_SETTINGS;
    for (const query of toStatements(`ALTER TABLE ${OWN_DATABASE}.${table} MODIFY TTL ${expression}`))
      await client.command({ query, abort_signal, clickhouse_settings });
    changed.push(table);
  }
  return changed;
}
