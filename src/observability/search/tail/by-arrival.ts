import type { Statement } from '../../../platform/engine/engine.ts';
import { createDraft } from '../../charts/queries/draft.ts';
import { createWriter } from '../../expressions/writer.ts';
import { writeNanos } from '../rows.ts';
import type { ArrivalOrder, RunStatement, Stretch } from './arrival-order.ts';
import { checkInGroups, describeFailure, isTooMuch, type TailReader } from './tail-reader.ts';
import { MAX_TAILED_ROWS, planTailRows, type WatchedQuery, writeMatch } from './tail-rows.ts';
import type { TailWatcher } from './tail-watcher.ts';

const UNKNOWN_SKIPPED = 'rows that arrived since the last check are not shown';

/** Sends each row once, in the order of arrival, and counts the rows that are not shown. */
export function createArrivalReader(order: ArrivalOrder, run: RunStatement): TailReader {
  /** What arrived up to there was sent to a watcher. */
  const positions = new WeakMap<TailWatcher, number>();

  async function checkGroup(group: readonly TailWatcher[], stretch: Stretch): Promise<void> {
    const plan = planArrived(
      group.map(({ watched }) => watched),
      order,
      stretch,
    );
    const arrived = plan.collect(await run(plan.statement));
    const matching = group.flatMap((watcher, index) => {
      const { count, from } = arrived[index] ?? NOTHING;
      return count > 0 ? [{ watcher, count, from }] : [];
    });
    if (matching.length > 0) {
      const rowsPlan = planTailRows(
        matching.map(({ watcher, from }) => ({
          ...watcher.watched,
          isWanted: (writer, nanos) => `${nanos} >= ${writer.bind(String(from), 'Int64')}`,
        })),
        (draft) => order.rows(draft, stretch),
      );
      const rows = rowsPlan.collect(await run(rowsPlan.statement));
      for (const [index, { watcher, count }] of matching.entries()) {
        const shown = rows[index] ?? [];
        watcher.deliver(shown, count - shown.length);
      }
    }
    for (const watcher of group) positions.set(watcher, stretch.upTo);
  }

  return {
    async add(watcher, signal) {
      const position = await order.now(signal);
      // Finds nothing: it shows whether the engine can run the query.
      const { statement } = planArrived([watcher.watched], order, { after: position, upTo: position });
      await run(statement, signal);
      positions.set(watcher, position);
    },

    async check(watchers) {
      const upTo = await order.now();
      const behind = new Map<number, TailWatcher[]>();
      for (const watcher of watchers) {
        const after = positions.get(watcher) ?? upTo;
        if (after < upTo) behind.set(after, [...(behind.get(after) ?? []), watcher]);
        else positions.set(watcher, upTo);
      }
      for (const [after, group] of behind)
        await checkInGroups(
          group,
          (part) => checkGroup(part, { after, upTo }),
          (watcher, error) => {
            // Other failures pass: the same rows are read again then.
            if (isTooMuch(error)) positions.set(watcher, upTo);
            const rest = isTooMuch(error) ? `; ${UNKNOWN_SKIPPED}` : '';
            watcher.send({ type: 'notice', message: `${describeFailure(error)}${rest}` });
          },
        );
    },
  };
}

/** What arrived for a query. */
interface Arrived {
  count: number;
  /** Epoch nanoseconds. At least as many matching rows as are shown have this time or a later one. */
  from: bigint;
}

const NOTHING: Arrived = { count: 0, from: 0n };

/** For each query, the matching rows of a stretch: one scan for all of them, over the columns of their conditions. */
function planArrived(
  watched: readonly WatchedQuery[],
  order: ArrivalOrder,
  stretch: Stretch,
): { statement: Statement; collect(rows: unknown[][]): Arrived[] } {
  const writer = createWriter();
  const drafts = watched.map(({ query }) => createDraft(query, writer));
  const found = drafts.flatMap((draft) => {
    const matches = writeMatch(draft);
    return [`countIf(${matches})`, `groupArraySortedIf(${MAX_TAILED_ROWS})(-__at, ${matches})[-1]`];
  });
  const [first] = drafts;
  const rows = first ? `SELECT *, ${writeNanos(first.time)} AS __at FROM (${order.rows(first, stretch)})` : '';
  return {
    statement: { sql: `SELECT ${found.join(', ')} FROM (${rows})`, parameters: writer.parameters },
    collect: ([row = []]) =>
      watched.map((_, index) => ({
        count: Number(row[2 * index] ?? 0),
        from: -BigInt(String(row[2 * index + 1] ?? 0)),
      })),
  };
}
