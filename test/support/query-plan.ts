import { type CompiledQuery, type KyselyPlugin, sql } from 'kysely';
import type { State } from '../../src/platform/state/state.ts';
import type { Db } from '../../src/platform/state/tables.ts';

/** The plans of the queries that `run` sends, as text. `open` opens the same store once more. */
export async function readPlans(
  state: State,
  open: () => Promise<State>,
  run: (db: Db) => Promise<unknown>,
): Promise<string[]> {
  const queries: CompiledQuery[] = [];
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      queries.push(state.db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await run(state.db.withPlugin(recorder));
  // On a separate connection: on libSQL an EXPLAIN leaves its read transaction open.
  const other = await open();
  try {
    return await other.write((tx) => explainAll(tx, state.kind, queries));
  } finally {
    await other.close();
  }
}

async function explainAll(tx: Db, kind: State['kind'], queries: readonly CompiledQuery[]): Promise<string[]> {
  const isPostgres = kind === 'postgres';
  // PostgreSQL reads a table with few rows as a whole unless it must not.
  if (isPostgres) for (const name of PREVENTED) await sql`SET LOCAL ${sql.id(name)} = off`.execute(tx);
  const plans: string[] = [];
  for (const query of queries) {
    const explain = isPostgres ? 'EXPLAIN ' : 'EXPLAIN QUERY PLAN ';
    plans.push(JSON.stringify((await tx.executeQuery({ ...query, sql: explain + query.sql })).rows));
  }
  return plans;
}

const PREVENTED = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'];
