import type { Day } from '../../../kernel/time/days.ts';
import { type EventBatch, filterLines } from './event-batch.ts';
import type { IdHash } from './id-filter.ts';

type EventLines = Pick<EventBatch, 'lines' | 'hashes' | 'days'>;

/** The events of a batch whose id is not in `counted`. Adds their ids to it. */
export function selectNewEvents(batch: EventBatch, counted: Set<IdHash>): EventLines {
  const isNew = (index: number) => !counted.has(batch.hashes[index] ?? '');
  const hashes = batch.hashes.filter((_, index) => isNew(index));
  const events: EventLines =
    hashes.length === batch.hashes.length
      ? batch
      : { hashes, days: batch.days.filter((_, index) => isNew(index)), lines: filterLines(batch, isNew) };
  for (const hash of hashes) counted.add(hash);
  return events;
}

/** The number of events of each day. */
export function countByDay(batches: readonly Pick<EventBatch, 'days'>[]): Map<Day, number> {
  const counts = new Map<Day, number>();
  for (const { days } of batches) for (const day of days) counts.set(day, (counts.get(day) ?? 0) + 1);
  return counts;
}

/** ClickHouse rejects an insert into more than 100 partitions; the table is partitioned by month. */
const MAX_MONTHS_PER_INSERT = 90;

/** The lines of each insert. One insert, except for events of many months. */
export function splitInserts(batches: readonly EventLines[], days: readonly Day[]): Buffer[][] {
  const months = [...new Set(days.map(toMonth))];
  if (months.length <= MAX_MONTHS_PER_INSERT) return withoutEmpty([batches.flatMap(({ lines }) => lines)]);
  const inserts: Buffer[][] = [];
  for (let start = 0; start < months.length; start += MAX_MONTHS_PER_INSERT) {
    const selected = new Set(months.slice(start, start + MAX_MONTHS_PER_INSERT));
    inserts.push(
      batches.flatMap((batch) => filterLines(batch, (index) => selected.has(toMonth(batch.days[index] ?? '')))),
    );
  }
  return withoutEmpty(inserts);
}

const toMonth = (day: Day): string => day.slice(0, 7);

const withoutEmpty = (inserts: readonly Buffer[][]): Buffer[][] =>
  inserts.map((lines) => lines.filter(({ length }) => length > 0)).filter(({ length }) => length > 0);
