import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { memoize } from '../../kernel/memo.ts';
import type { DirectRunner } from './prepared.ts';
import { createSharedReads } from './shared-reads.ts';
import type { StoreObserver } from './state.ts';
import { nameStatement, type StatementNames } from './statement-names.ts';

/**
 * Reads outside a transaction. The pool replaces a connection whose statement failed. Many requests have the same key, and
 * many read the same table, so those that wait share statements.
 */
export function createDirectRunner(pool: pg.Pool, names: StatementNames, observer: StoreObserver): DirectRunner {
  async function run(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    const startedAt = performance.now();
    try {
      return await pool.query({ name: names.find(text), text, values: values as unknown[] });
    } catch (error) {
      if (!names.recover(error)) throw error;
      return await pool.query({ name: names.find(text), text, values: values as unknown[] });
    } finally {
      observer.query((performance.now() - startedAt) / 1000);
    }
  }

  const readFirst = async (text: string, values: readonly unknown[]) => (await run(text, values)).rows[0];

  const share = createSharedReads(async (text, reads) => {
    const [only] = reads;
    if (only && reads.length === 1) return [await readFirst(text, only)];
    const columns = (only ?? []).map((_, column) => reads.map((values) => values[column]));
    const { rows } = await run(toJoinedText(text), columns);
    const found: unknown[] = [];
    for (const { [INDEX]: index, ...row } of rows) found[index - 1] ??= row;
    return found;
  });

  const findFirst = (text: string, values: readonly unknown[]) =>
    text.startsWith('select ') && values.length > 0 && values.every((value) => typeof value === 'string')
      ? share(text, values)
      : readFirst(text, values);
  return {
    all: async (text, values) => (await run(text, values)).rows,
    first: findFirst,
    cached: findFirst,
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
