import { AppError } from '../../../kernel/errors.ts';
import type { Statement } from '../../../platform/engine/engine.ts';
import type { Draft } from '../../charts/queries/draft.ts';
import type { Table } from '../../charts/queries/series-query.ts';
import { quoteName } from '../../expressions/writer.ts';

export type RunStatement = (statement: Statement, signal?: AbortSignal) => Promise<unknown[][]>;

/** After one position and up to another. */
export interface Stretch {
  after: number;
  upTo: number;
}

/**
 * The order in which the rows of a table arrived. The guarantee: a row is in exactly one of the stretches between
 * consecutive results of `now`, whatever its time says and however long its insert took.
 */
export interface ArrivalOrder {
  /** The position behind all rows that are visible. */
  now(signal?: AbortSignal): Promise<number>;
  /** SQL of the organization's rows of a stretch. */
  rows(draft: Draft, stretch: Stretch): string;
}

const TABLE_ENGINE = /^ENGINE = (\w+)/m;
const KEEPS_BLOCK_NUMBERS = /\benable_block_number_column = (1|true)\b/;
/** The last block of a part, which is the third word of its name: 20261119_3_7_1. Evaluated once for each part, before its rows are read. */
const LAST_BLOCK_OF_PART = "toInt64OrZero(splitByChar('_', _part)[3])";

/**
 * The order of arrival of a table, if the engine keeps it. ClickHouse numbers the blocks of a MergeTree table when it makes
 * them visible, both under one lock: if block n is visible, every block with a smaller number is visible or will never be.
 * With `enable_block_number_column`, rows keep their number when parts are merged. In a Replicated table, a number is taken
 * before the block is visible, and not all replicas have the same blocks, so its numbers are not such an order.
 */
export async function findArrivalOrder(run: RunStatement, table: Table): Promise<ArrivalOrder | undefined> {
  const { database, name } = table;
  const sql = `SHOW CREATE TABLE ${quoteName(database)}.${quoteName(name)}`;
  const [[text] = []] = await run({ sql, parameters: {} }).catch(ignoreRejected);
  const [, engine = ''] = TABLE_ENGINE.exec(String(text)) ?? [];
  const isNumbered = engine.endsWith('MergeTree') && !/^(Replicated|Shared)/.test(engine);
  return isNumbered && KEEPS_BLOCK_NUMBERS.test(String(text)) ? createBlockOrder(run, table) : undefined;
}

/** The engine's user may not be allowed to see the definition. */
function ignoreRejected(error: unknown): unknown[][] {
  if (error instanceof AppError && error.code === 'bad_request') return [];
  throw error;
}

function createBlockOrder(run: RunStatement, { database, name }: Table): ArrivalOrder {
  return {
    /**
     * Smaller than before if the newest rows were removed. Positions continue from there: after a restart, ClickHouse
     * continues with the largest number that it still has.
     */
    async now(signal) {
      const sql =
        'SELECT max(max_block_number) FROM system.parts WHERE active AND database = {database:String} AND table = {name:String}';
      const [[last] = []] = await run({ sql, parameters: { database, name } }, signal);
      return Number(last ?? 0);
    },
    rows({ writer, own }, { after, upTo }) {
      const from = writer.bind(after, 'Int64');
      return own(
        `${LAST_BLOCK_OF_PART} > ${from} AND _block_number > ${from} AND _block_number <= ${writer.bind(upTo, 'Int64')}`,
      );
    },
  };
}
