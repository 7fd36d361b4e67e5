import type { Connection } from '../backends/backend.ts';
import { CLUSTER_SETTINGS } from '../cluster/cluster.ts';
import { createStatements, toLocalName } from '../cluster/cluster-statements.ts';
import { OWN_DATABASE } from '../engine.ts';

const TABLE = 'otel_logs';
const NAME = 'body_words';
/** Without the index, the same conditions read every message. */
const STATEMENT = `ALTER TABLE ${OWN_DATABASE}.${TABLE} ADD INDEX IF NOT EXISTS ${NAME} lower(Body) TYPE text(tokenizer = splitByNonAlpha)`;
const FIRST_VERSION = [26, 2] as const;

/**
 * Adds the index of the words in log messages, for rows from now on. Not a migration, because servers before 26.2 do not
 * have such indexes and may be upgraded later. Returns true if it was added.
 */
export async function addTextIndex(
  { writer: client, cluster }: Pick<Connection, 'writer' | 'cluster'>,
  abort_signal: AbortSignal,
): Promise<boolean> {
  const readText = async (query: string): Promise<string> =>
    (await client.query({ query, format: 'TabSeparatedRaw', abort_signal })).text();
  const [major = 0, minor = 0] = (await readText('SELECT version()')).split('.').map(Number);
  if (major < FIRST_VERSION[0] || (major === FIRST_VERSION[0] && minor < FIRST_VERSION[1])) return false;
  const table = cluster === undefined ? TABLE : toLocalName(TABLE);
  const definition = await readText(`SHOW CREATE TABLE ${OWN_DATABASE}.${table}`);
  if (definition.includes(`INDEX ${NAME} `)) return false;
  const clickhouse_settings = cluster === undefined ? {} : CLUSTER_SETTINGS;
  for (const query of createStatements(cluster)(STATEMENT))
    await client.command({ query, abort_signal, clickhouse_settings });
  return true;
}
