import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { AppError } from '../../../kernel/errors.ts';
import { OWN_DATABASE, type Statement } from '../engine.ts';
import { listOwnTables } from '../tables/own-tables.ts';
import { toLocalName } from './cluster-statements.ts';

/** Of inserts and of statements that change tables. */
export const CLUSTER_SETTINGS: ClickHouseSettings = {
  // An insert ends when the shards have stored its rows, not when one server has queued them.
  insert_distributed_sync: 1,
  // A Replicated table would drop rows that equal an earlier insert, such as two equal counts of a minute.
  insert_deduplicate: 0,
  // A server that is down makes the change when it is back.
  distributed_ddl_output_mode: 'throw_only_active' as never,
};

/** A subquery in IN or JOIN reads the rows of all shards. */
export const CLUSTER_READ_SETTINGS: ClickHouseSettings = { distributed_product_mode: 'global' };

interface Request {
  client: ClickHouseClient;
  cluster: string;
  abort_signal?: AbortSignal | undefined;
}

/** Throws if the server has no such cluster. */
export async function checkCluster(
  client: ClickHouseClient,
  cluster: string,
  abort_signal: AbortSignal,
): Promise<void> {
  const query = 'SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster';
  const result = await client.query({ query, format: 'JSONEachRow', abort_signal });
  const names = (await result.json<{ cluster: string }>()).map((row) => row.cluster);
  if (names.includes(cluster)) return;
  const found = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  throw new AppError('unavailable', `--clickhouse-cluster: the ClickHouse server has no cluster ${cluster}; ${found}`, {
    retryAfterSeconds: 60,
  });
}

/** Of one replica of each shard. */
export function partitionStatement(tables: readonly string[], cluster: string | undefined): Statement {
  const [parts, name] =
    cluster === undefined
      ? ['system.parts', 'table']
      : [`cluster('${cluster}', system.parts)`, "replaceRegexpOne(table, '_local$', '')"];
  return {
    sql: `SELECT ${name} AS name, partition_id, sum(rows), sum(bytes_on_disk) FROM ${parts} WHERE database = {database:String} AND active AND table IN {tables:Array(String)} GROUP BY name, partition_id`,
    parameters: { database: OWN_DATABASE, tables: cluster === undefined ? tables : tables.map(toLocalName) },
  };
}

interface OwnTable {
  name: string;
  statement: string;
  engine: string;
  servers: number;
}

/** Our tables on the servers of the cluster that can be reached, and the number of these servers. */
async function readTables({
  client,
  cluster,
  abort_signal,
}: Request): Promise<{ tables: OwnTable[]; servers: number }> {
  const read = async <T>(query: string): Promise<T[]> => {
    const clickhouse_settings: ClickHouseSettings = { skip_unavailable_shards: 1 };
    const result = await client.query({ query, format: 'JSONEachRow', abort_signal, clickhouse_settings });
    return result.json<T>();
  };
  // Each replica counts as a shard here.
  const tables = await read<OwnTable>(
    `SELECT name, any(create_table_query) AS statement, max(engine) AS engine, toUInt32(uniqExact(_shard_num)) AS servers
      FROM clusterAllReplicas('${cluster}', system.tables) WHERE database = '${OWN_DATABASE}' GROUP BY name ORDER BY name`,
  );
  const [row] = await read<{ servers: number }>(
    `SELECT toUInt32(uniqExact(_shard_num)) AS servers FROM clusterAllReplicas('${cluster}', system.one)`,
  );
  return { tables, servers: row?.servers ?? 0 };
}

const HISTORY = 'schema_migrations';

/** Whether the cluster has been migrated before. */
export async function hasTables(request: Request): Promise<boolean> {
  const { tables } = await readTables(request);
  return [HISTORY, toLocalName(HISTORY)].every((name) => tables.some((table) => table.name === name));
}

const CREATE = new RegExp(`^CREATE (TABLE|MATERIALIZED VIEW) (${OWN_DATABASE}\\.\\w+)`);
/** Views come last: they need the tables that they read. A Distributed table needs no other table. */
const getOrder = ({ engine }: OwnTable): number => Number(engine === 'MaterializedView');

/** The database may have tables of others. */
function listOwnNames(): Set<string> {
  const { tables, derived, views } = listOwnTables();
  return new Set([...views, ...[HISTORY, ...tables, ...derived].flatMap((name) => [name, toLocalName(name)])]);
}

/**
 * Creates our tables on servers that were added to the cluster, as they are on the others. A new replica must have the
 * definition that its shard has now, with the current retention: the one of the migrations would be rejected.
 */
export async function completeTables(client: ClickHouseClient, cluster: string, signal: AbortSignal): Promise<void> {
  const { tables, servers } = await readTables({ client, cluster, abort_signal: signal });
  rejectSingleServer(tables);
  const own = listOwnNames();
  const missing = tables
    .filter((table) => own.has(table.name) && table.servers < servers)
    .sort((a, b) => getOrder(a) - getOrder(b));
  if (missing.length === 0) return;
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE} ON CLUSTER '${cluster}'`,
    ...missing.map(({ statement }) => statement.replace(CREATE, `CREATE $1 IF NOT EXISTS $2 ON CLUSTER '${cluster}'`)),
  ];
  for (const query of statements)
    await client.command({ query, abort_signal: signal, clickhouse_settings: CLUSTER_SETTINGS });
}

/** The tables of a single server have the names of the Distributed tables. */
function rejectSingleServer(tables: readonly OwnTable[]): void {
  const history = tables.find(({ name }) => name === HISTORY);
  if (history === undefined || history.engine === 'Distributed') return;
  throw new AppError(
    'conflict',
    `The database ${OWN_DATABASE} was created without --clickhouse-cluster. Write a backup without the setting, and restore it with the setting and --force`,
  );
}
