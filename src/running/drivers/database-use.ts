import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { IdleBlocker, Upstream } from '../../management/services/driver.ts';
import { OWN_COMMENT, queryRows, quoteText } from '../../platform/listener/query.ts';

/** Queries that do not count as use, as at the endpoints. */
export interface IgnoredQueries {
  /** Prefixes of user agents and of the names of native clients. */
  ignoredAgents: readonly string[];
  ignoredStatements: readonly string[];
}

export interface Asked {
  upstream: Upstream;
  /** How many replicas run, over all shards: each of them is asked. */
  replicas: number;
  /** The cluster that they are in; found by its size if it is left out. */
  cluster?: string | undefined;
  /** Queries that ended longer ago do not count. */
  timeoutMs: number;
  ignored: IgnoredQueries;
  /** Users whose queries are not those of clients. */
  ownUsers: readonly string[];
}

const TIMEOUT_MS = 8 * SECOND_MS;
const MAX_WORK = 20;
const MAX_DETAIL_CHARACTERS = 200;
/** In `system.processes` and `system.query_log`: statements that the server runs for itself, over no connection. */
const LOCAL_INTERFACE = 6;
const HTTP_INTERFACE = 2;
/** A query that is about to end has no settings any more, so its comment alone does not tell that it is ours. */
const OWN_ID = 'pilothouse-use-';

type Row = [IdleBlocker['type'] | 'replicas', string];

/**
 * Asks every replica of a database what a stop would interrupt, and when it was last used, because clients may reach it
 * without its endpoint here. Throws if one of them does not answer: the database must not be stopped then.
 */
export async function listUse(asked: Asked, signal: AbortSignal): Promise<IdleBlocker[]> {
  const limited = limitTime(TIMEOUT_MS, signal);
  try {
    const cluster = asked.replicas > 1 ? await findCluster(asked, limited) : undefined;
    const id = `${OWN_ID}${newUuid()}`;
    const rows = await queryRows<Row>(asked.upstream, formatStatement(asked, cluster), limited, id);
    const answered = Number(rows.find(([type]) => type === 'replicas')?.[1] ?? 0);
    if (answered !== asked.replicas) throw new Error(`${answered} of ${asked.replicas} replicas answered`);
    return rows.flatMap(([type, detail]) => (type === 'replicas' ? [] : [toBlocker(type, detail, asked.timeoutMs)]));
  } catch (cause) {
    const { message } = cause as Error;
    throw new AppError('unavailable', toLine(message), { cause });
  }
}

/** The cluster with as many replicas. One that the server is not in itself only counts if its name is known. */
async function findCluster({ upstream, replicas, cluster }: Asked, signal: AbortSignal): Promise<string> {
  const wanted = quoteText(cluster ?? '');
  const rows = await queryRows<[string]>(
    upstream,
    `SELECT cluster FROM system.clusters GROUP BY cluster
     HAVING count() = ${replicas} AND (max(is_local) = 1 OR cluster = ${wanted})
     ORDER BY cluster = ${wanted} DESC, cluster LIMIT 1`,
    signal,
  );
  const found = rows[0]?.[0];
  if (found !== undefined) return found;
  throw new Error(`system.clusters has no cluster with the ${replicas} replicas that run`);
}

function formatStatement({ timeoutMs, ignored, ownUsers }: Asked, cluster: string | undefined): string {
  const from = (table: string) =>
    cluster === undefined ? `system.${table}` : `clusterAllReplicas(${quoteText(cluster)}, system.${table})`;
  const seconds = Math.ceil(timeoutMs / SECOND_MS);
  const isClient = [
    `interface != ${LOCAL_INTERFACE}`,
    ...(ownUsers.length > 0 ? [`user NOT IN (${ownUsers.map(quoteText).join(', ')})`] : []),
  ].join(' AND ');
  return `
SELECT 'replicas' AS type, toString(count()) AS detail FROM ${from('one')}
UNION ALL
SELECT 'running_query', toString(count()) FROM ${from('processes')}
WHERE ${isClient} AND Settings['log_comment'] != ${quoteText(OWN_COMMENT)} AND NOT startsWith(initial_query_id, '${OWN_ID}') HAVING count() > 0
UNION ALL
SELECT * FROM (SELECT 'merge', concat(database, '.', table, ': ', toString(num_parts), ' parts, ', toString(toUInt8(progress * 100)), ' %')
FROM ${from('merges')} WHERE NOT is_mutation AND database != 'system' LIMIT ${MAX_WORK})
UNION ALL
SELECT * FROM (SELECT 'mutation', concat(database, '.', table, ': ', toString(parts_to_do), ' parts left, ', command)
FROM ${from('mutations')} WHERE NOT is_done LIMIT ${MAX_WORK})
UNION ALL
SELECT * FROM (SELECT 'backup', name FROM ${from('backups')} WHERE status IN ('CREATING_BACKUP', 'RESTORING') LIMIT ${MAX_WORK})
UNION ALL
SELECT 'recent_query', toString(dateDiff('second', max(event_time), now())) FROM ${from('query_log')}
WHERE event_date >= toDate(now() - ${seconds}) AND event_time >= now() - ${seconds}
AND ${isClient} AND log_comment != ${quoteText(OWN_COMMENT)} AND NOT (${formatIgnored(ignored)}) HAVING count() > 0
SETTINGS skip_unavailable_shards = 0`;
}

/** Statements are equal if they differ only in white space, case or the semicolons at their end. */
const normalize = (statement: string) =>
  `lower(trimBoth(replaceRegexpAll(replaceRegexpOne(${statement}, '[\\\\s;]+$', ''), '\\\\s+', ' ')))`;

function formatIgnored({ ignoredAgents, ignoredStatements }: IgnoredQueries): string {
  const agent = `if(interface = ${HTTP_INTERFACE}, http_user_agent, client_name)`;
  const agents = ignoredAgents.filter((prefix) => prefix !== '');
  return [
    ...agents.map((prefix) => `startsWith(${agent}, ${quoteText(prefix)})`),
    ...ignoredStatements.map((statement) => `${normalize('query')} = ${normalize(quoteText(statement))}`),
    'false',
  ].join(' OR ');
}

function toBlocker(type: IdleBlocker['type'], detail: string, timeoutMs: number): IdleBlocker {
  if (type === 'running_query') return { type, detail: `Running at the database: ${detail}` };
  if (type !== 'recent_query') return { type, detail: toLine(detail) };
  const minutes = timeoutMs / (60 * SECOND_MS);
  return {
    type,
    detail: `The last query at the database ended ${Math.max(0, Number(detail))} seconds ago; the timeout is ${minutes} minutes`,
  };
}

const toLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_DETAIL_CHARACTERS);
