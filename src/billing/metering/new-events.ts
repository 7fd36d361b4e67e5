import type { Day } from '../../kernel/days.ts';
import { type Batch, someLines } from './batch.ts';
import type { IdHash } from './id-filter.ts';

type Lines = Pick<Batch, 'text' | 'hashes' | 'days'>;

/** What of a batch was not counted before; it counts from now on, so the next batch is told. */
export function newOf(batch: Batch, counted: Set<IdHash>): Lines {
  const isNew = (index: number) => !counted.has(batch.hashes[index] ?? '');
  const hashes = batch.hashes.filter((_, index) => isNew(index));
  const isAll = hashes.length === batch.hashes.length;
  const lines: Lines = isAll
    ? batch
    : { hashes, days: batch.days.filter((_, index) => isNew(index)), text: someLines(batch, isNew) };
  for (const hash of hashes) counted.add(hash);
  return lines;
}

/** The engine refuses to write into more than a hundred months at once. */
const MONTHS_PER_INSERT = 90;

/** What goes to the engine in one go: nearly always everything. */
export function insertsOf(batches: readonly Lines[], days: readonly Day[]): Buffer[][] {
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const inserts: Buffer[][] = [];
  for (let start = 0; start < months.length; start += MONTHS_PER_INSERT) {
    const some = new Set(months.slice(start, start + MONTHS_PER_INSERT));
    const isIn = (lines: Lines) => (index: number) => some.has((lines.days[index] ?? '').slice(0, 7));
    inserts.push(
      batches.flatMap((lines) => (months.length <= MONTHS_PER_INSERT ? lines.text : someLines(lines, isIn(lines)))),
    );
  }
  return inserts.map((texts) => texts.filter(({ length }) => length > 0)).filter(({ length }) => length > 0);
}
