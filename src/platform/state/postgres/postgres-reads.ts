import { performance } from 'node:perf_hooks';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { memoize } from '../../../kernel/memo.ts';
import type { DirectRunner } from '../prepared.ts';
import type { StoreObserver } from '../state.ts';
import { nameStatement, type StatementNames } from '../statement-names.ts';
import type { Db } from '../tables.ts';
import { createSharedCalls } from './shared-calls.ts';

type Values = readonly unknown[];
type Run = (text: string, values: Values) => Promise<{ rows: unknown[]; rowCount: number | null }>;

/** More statements at the same time would each read fewer rows. */
const MAX_RUNNING = 2;

/** Runs statements outside a transaction. The pool replaces a connection whose statement failed. */
export function createPoolRunner(pool: pg.Pool, names: StatementNames, observer: StoreObserver): DirectRunner {
  const send: Run = (text, values) => pool.query({ name: names.find(text), text, values: values as unknown[] });
  return createSharingRunner(async (text, values) => {
    const startedAt = performance.now();
    try {
      return await send(text, values);
    } catch (error) {
      if (!names.recover(error)) throw error;
      return await send(text, values);
    } finally {
      observer.query((performance.now() - startedAt) / 1000);
    }
  });
}

/** Runs statements in a transaction whose changes run at the same time. */
export const createGroupRunner = (tx: Db): DirectRunner =>
  createSharingRunner(async (text, values) => {
    const { rows, numAffectedRows } = await tx.executeQuery(CompiledQuery.raw(text, values as unknown[]));
    return { rows, rowCount: Number(numAffectedRows) };
  });

/** Many requests have the same key, and many read the same table, so reads of single rows that wait share a statement. */
function createSharingRunner(run: Run): DirectRunner {
  const readFirst = async (text: string, values: Values) => (await run(text, values)).rows[0];

  /** Reads with the same values share a row. */
  const share = createSharedCalls(async (text: string, reads: readonly Values[]) => {
    const keys = reads.map((values) => JSON.stringify(values));
    const distinct = [...new Map(reads.map((values, index) => [keys[index], values]))];
    const found = await readEach(
      text,
      distinct.map(([, values]) => values),
    );
    const rows = new Map(distinct.map(([key], index) => [key, found[index]]));
    return keys.map((key) => rows.get(key));
  }, MAX_RUNNING);

  async function readEach(text: string, reads: readonly Values[]): Promise<unknown[]> {
    const [first = []] = reads;
    if (reads.length === 1) return [await readFirst(text, first)];
    const columns = first.map((_, column) => reads.map((values) => values[column]));
    const { rows } = await run(toJoinedText(text), columns);
    const found: unknown[] = [];
    for (const { [INDEX]: index, ...row } of rows as { [INDEX]: number }[]) found[index - 1] ??= row;
    return found;
  }

  return {
    all: async (text, values) => (await run(text, values)).rows,
    first: (text, values) =>
      text.startsWith('select ') && values.length > 0 && values.every((value) => typeof value === 'string')
        ? share(text, values)
        : readFirst(text, values),
    execute: async (text, values) => (await run(text, values)).rowCount ?? 0,
  };
}

const INDEX = 'read_index';

/** The same select for several rows of values, which are one array for each parameter. All parameters are text. */
const toJoinedText = memoize((text: string): string => {
  const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const arrays = numbers.map((number) => `$${number}::text[]`).join(', ');
  const columns = numbers.map((number) => `p${number}`).join(', ');
  const select = text.replace(/\$(\d+)/g, 'v.p$1');
  const joined = `select v.${INDEX}, r.* from unnest(${arrays}) with ordinality as v (${columns}, ${INDEX}) cross join lateral (${select}) as r`;
  nameStatement(joined);
  return joined;
});
