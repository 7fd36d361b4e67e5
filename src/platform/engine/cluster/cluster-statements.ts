import { OWN_DATABASE } from '../engine.ts';

/** A table of ours as a migration creates it. */
interface Definition {
  columns: string;
  engine: string;
  engineArguments: string;
  /** From PARTITION BY to SETTINGS. */
  clauses: string;
}

/** The name of the table that holds the rows of a shard. The Distributed table above it has the name without the suffix. */
export const toLocalName = (table: string): string => `${table}_local`;

const OWN_NAME = new RegExp(`\\b${OWN_DATABASE}\\.(\\w+)`, 'g');
const NAME = `${OWN_DATABASE}\\.(\\w+)`;
const DATABASE = new RegExp(`^CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE}$`);
const TABLE = new RegExp(`^CREATE TABLE IF NOT EXISTS ${NAME}\\s*\\(`);
const ENGINE = /^\s*ENGINE = (\w*MergeTree)\b/;
const COPY = new RegExp(`^CREATE TABLE IF NOT EXISTS ${NAME} AS ${NAME}$`);
const VIEW = new RegExp(`^CREATE MATERIALIZED VIEW IF NOT EXISTS ${NAME} TO ${NAME}(?=\\s)`);
const ALTER = new RegExp(`^ALTER TABLE ${NAME}(?=\\s)`);
const DELETE = new RegExp(`^DELETE FROM ${NAME}(?=\\s)`);
const DROP = new RegExp(`^DROP TABLE IF EXISTS ${NAME} SYNC$`);
const TRUNCATE = new RegExp(`^TRUNCATE TABLE IF EXISTS ${NAME} SYNC$`);
const INSERT = new RegExp(`^INSERT INTO ${NAME}(?=\\s)`);
/** Changes what the Distributed table must repeat. */
const COLUMN_CHANGE = /\b(ADD|DROP|MODIFY|RENAME|CLEAR) COLUMN\b/;

/** The statements to send for a statement of ours; the statement itself without a cluster. */
export const createStatements = (cluster: string | undefined): ((statement: string) => string[]) =>
  cluster === undefined ? (statement) => [statement] : createClusterStatements(cluster);

/**
 * Converts statements of ours, in their order, to the statements that do the same on every shard of a cluster: a table of
 * a MergeTree family becomes a Replicated one with a Distributed table above it. Throws for a statement whose form is not
 * known, so that a migration that uses one fails in the tests.
 */
export function createClusterStatements(cluster: string): (statement: string) => string[] {
  const onCluster = `ON CLUSTER '${cluster}'`;
  const definitions = new Map<string, Definition>();
  const altered = new Set<string>();

  const createLocal = (name: string, { columns, engine, engineArguments, clauses }: Definition): string => {
    const local = toLocalName(name);
    // Not the default path, which has a random id: a replica that is added later must find the tables of its shard.
    const path = `'/clickhouse/tables/{shard}/${OWN_DATABASE}/${local}', '{replica}'`;
    const engineText = `Replicated${engine}(${path}${engineArguments === '' ? '' : `, ${engineArguments}`})`;
    return `CREATE TABLE IF NOT EXISTS ${OWN_DATABASE}.${local} ${onCluster}\n${columns}\nENGINE = ${engineText}\n${clauses}`;
  };

  const createDistributed = (name: string, verb: string): string => {
    const local = toLocalName(name);
    const definition = definitions.get(name);
    const key = definition ? getShardingKey(definition) : 'rand()';
    return `${verb} ${OWN_DATABASE}.${name} ${onCluster} AS ${OWN_DATABASE}.${local}\nENGINE = Distributed('${cluster}', '${OWN_DATABASE}', '${local}', ${key})`;
  };

  function createTable(name: string, definition: Definition): string[] {
    definitions.set(name, definition);
    return [createLocal(name, definition), createDistributed(name, 'CREATE TABLE IF NOT EXISTS')];
  }

  function copyTable(name: string, source: string): string[] {
    const definition = definitions.get(source);
    if (!definition) throw new Error(`${source} has no definition of its own`);
    if (altered.has(source))
      throw new Error(`${source} was changed before it is copied: write the definition of ${name}`);
    return createTable(name, definition);
  }

  /** Views run where their rows are stored. */
  const createView = (statement: string, name: string): string =>
    statement
      .replace(OWN_NAME, (text, other: string) => (other === name ? text : `${OWN_DATABASE}.${toLocalName(other)}`))
      .replace(` TO ${OWN_DATABASE}.`, ` ${onCluster} TO ${OWN_DATABASE}.`);

  function alterTable(statement: string, name: string): string[] {
    altered.add(name);
    const change = onLocal(statement, name);
    return COLUMN_CHANGE.test(statement) ? [change, createDistributed(name, 'CREATE OR REPLACE TABLE')] : [change];
  }

  const onLocal = (statement: string, name: string): string =>
    statement.replace(`${OWN_DATABASE}.${name}`, `${OWN_DATABASE}.${toLocalName(name)} ${onCluster}`);

  return (statement) => {
    const find = (pattern: RegExp): string | undefined => pattern.exec(statement)?.[1];
    if (DATABASE.test(statement)) return [`${statement} ${onCluster}`];
    const copied = COPY.exec(statement);
    if (copied) return copyTable(copied[1] ?? '', copied[2] ?? '');
    const created = find(TABLE);
    if (created !== undefined) return createTable(created, parseDefinition(statement));
    const view = find(VIEW);
    if (view !== undefined) return [createView(statement, view)];
    const changed = find(ALTER);
    if (changed !== undefined) return alterTable(statement, changed);
    const reduced = find(DELETE) ?? find(TRUNCATE);
    if (reduced !== undefined) return [onLocal(statement, reduced)];
    const dropped = find(DROP);
    if (dropped !== undefined) return [statement.replace(' SYNC', ` ${onCluster} SYNC`), onLocal(statement, dropped)];
    if (INSERT.test(statement)) return [statement];
    throw new Error(`This statement has no form for a cluster: ${statement.slice(0, 200)}`);
  };
}

function parseDefinition(statement: string): Definition {
  const start = statement.indexOf('(');
  const columns = readParentheses(statement, start);
  const rest = statement.slice(start + columns.length);
  const [matched, engine] = ENGINE.exec(rest) ?? [];
  if (matched === undefined || engine === undefined) throw new Error('A table of a cluster needs a MergeTree engine');
  const after = rest.slice(matched.length);
  const engineArguments = after.startsWith('(') ? readParentheses(after, 0) : '';
  const clauses = after.slice(engineArguments.length).trim();
  return { columns, engine, engineArguments: engineArguments.slice(1, -1), clauses };
}

/** The text from the opening parenthesis at `start` to the one that closes it. Our statements have no parentheses in strings. */
function readParentheses(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text.slice(start, at + 1);
  }
  throw new Error('A parenthesis is not closed');
}

/** The members of a list in parentheses, or the one of a list without them. */
function splitList(list: string): string[] {
  const members: string[] = [''];
  let depth = 0;
  for (const character of list.startsWith('(') ? list.slice(1, -1) : list) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) members.push('');
    else members.push((members.pop() ?? '') + character);
  }
  return members.map((member) => member.trim());
}

/**
 * What decides on the shard of a row. A trace is on one shard; so is a series of a metric. Rows that their engine merges,
 * such as two of the same usage event, are on one shard too: the key is a part of the sorting key.
 */
function getShardingKey({ columns, clauses }: Definition): string {
  const names = splitList(columns).map((column) => /^\w+/.exec(column)?.[0] ?? '');
  if (names.includes('MetricName'))
    return 'cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes))';
  // Most logs belong to no trace. By their empty id, one shard would have to store them all.
  if (names.includes('TraceId')) return "if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId))";
  const start = clauses.indexOf('ORDER BY ') + 'ORDER BY '.length;
  const sorting =
    clauses[start] === '(' ? readParentheses(clauses, start) : (/^\w+/.exec(clauses.slice(start))?.[0] ?? '');
  const plain = splitList(sorting).filter((name) => names.includes(name));
  return `cityHash64(${plain.join(', ')})`;
}
