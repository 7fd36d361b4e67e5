import type { Statement } from '../../../platform/engine/engine.ts';
import { createDraft, type Draft, rejectSeries } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

export type Scale = 'linear' | 'log';

/** What the bins are chosen by. */
interface ValueRange {
  count: number;
  low: number;
  high: number;
  median: number;
  isInteger: boolean;
}

/** Bins of equal width on the scale: bin `i` starts at `start + i * width`, before the inverse of the scale. */
interface Bins {
  scale: Scale;
  start: number;
  width: number;
  count: number;
}

/** The range of the values of a field in logs or traces. Rows without a finite number are skipped. */
export function planValueRange(query: SeriesQuery): {
  statement: Statement;
  collect(rows: unknown[][]): ValueRange | undefined;
} {
  const draft = createDraft(query);
  const sql =
    'SELECT count(), min(__v), max(__v), quantile(0.5)(__v), countIf(__v = floor(__v)) ' +
    `FROM (${selectValues(draft, query)}) WHERE isFinite(__v)`;
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect([row = []]) {
      const [count = 0, low = 0, high = 0, median = 0, integers = 0] = row.map(Number);
      return count === 0 ? undefined : { count, low, high, median, isInteger: integers === count };
    },
  };
}

/** The number of values by bucket and bin. */
export function planBins(
  query: SeriesQuery,
  { scale, start, width, count }: Bins,
): { statement: Statement; collect(rows: unknown[][]): number[][] } {
  const draft = createDraft(query);
  const { bind } = draft.writer;
  const position = scale === 'log' ? 'asinh(__v)' : '__v';
  const bin = `least(greatest(floor((${position} - ${bind(start, 'Float64')}) / ${bind(width, 'Float64')}), 0), ${bind(count - 1, 'UInt32')})`;
  const sql =
    `SELECT __bucket, toInt32(${bin}) AS __bin, count() FROM (${selectValues(draft, query)}) ` +
    'WHERE isFinite(__v) GROUP BY __bucket, __bin ORDER BY __bucket, __bin';
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect(rows) {
      const counts = Array.from({ length: count }, () => query.buckets.starts.map(() => 0));
      for (const [bucket, index, found] of rows.map((row) => row.map(Number)))
        if (bucket !== undefined && bucket >= 0 && bucket < query.buckets.starts.length)
          (counts[index as number] as number[])[bucket] = found as number;
      return counts;
    },
  };
}

function selectValues(draft: Draft, query: SeriesQuery): string {
  const { field } = query;
  if (field === undefined || field.trim() === '') return rejectSeries(query, 'field', 'A distribution needs a field');
  const value = draft.writer.writeNumber(draft.value('field', field));
  return `SELECT ${draft.bucket} AS __bucket, toFloat64(${value}) AS __v FROM (${draft.rows()})${draft.where()}`;
}

/** A maximum this many times the median is not visible on a linear scale. */
const SKEWED = 50;

/** About `target` bins, with round bounds on a linear scale. Without `scale`: logarithmic if the values are skewed. */
export function chooseBins({ low, high, median, isInteger }: ValueRange, target: number, scale?: Scale): Bins {
  const isSkewed = low >= 0 && median > 0 && high / median > SKEWED;
  if ((scale ?? (isSkewed ? 'log' : 'linear')) === 'log') {
    const start = Math.asinh(low);
    const length = Math.asinh(high) - start;
    return length > 0
      ? { scale: 'log', start, width: length / target, count: target }
      : { scale: 'log', start, width: 1, count: 1 };
  }
  const width = Math.max(roundStep((high - low) / target), isInteger ? 1 : 0) || 1;
  const first = Math.floor(low / width);
  return { scale: 'linear', start: first * width, width, count: Math.floor(high / width) - first + 1 };
}

/** The next larger number of 1, 2, 5, 10, 20, … */
function roundStep(step: number): number {
  if (!(step > 0) || !Number.isFinite(step)) return 0;
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5].find((factor) => factor * power >= step) ?? 10) * power;
}

/** The bounds of each bin; the upper one is exclusive, except in the last bin. */
export function listBounds({ scale, start, width, count }: Bins): { from: number; to: number }[] {
  const bound = (index: number): number => {
    const position = start + index * width;
    // Rounded: 0.1 * 3 is not 0.3.
    return Number((scale === 'log' ? Math.sinh(position) : position).toPrecision(12));
  };
  return Array.from({ length: count }, (_, index) => ({ from: bound(index), to: bound(index + 1) }));
}
