import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import { METRICS_EVERY_MS } from './traffic.ts';

export interface Range {
  fromMs: number;
  /** Exclusive. */
  toMs: number;
}

const PART_MS = 2 * 60 * MINUTE_MS;

/** Cuts ranges into parts, newest first, so that dashboards of the last hour are filled first and do not change later. */
export function newestFirst(ranges: readonly Range[]): Range[] {
  const parts = ranges.flatMap(({ fromMs, toMs }) =>
    Array.from({ length: Math.ceil((toMs - fromMs) / PART_MS) }, (_, back) => ({
      fromMs: Math.max(fromMs, toMs - (back + 1) * PART_MS),
      toMs: toMs - back * PART_MS,
    })),
  );
  return parts.sort((a, b) => b.fromMs - a.fromMs);
}

/** The parts of a range without reports, in whole report intervals. */
export function missingRanges(reports: ReadonlySet<number>, { fromMs, toMs }: Range): Range[] {
  const ranges: Range[] = [];
  for (let ms = fromMs; ms < toMs; ms += METRICS_EVERY_MS) {
    if (reports.has(ms)) continue;
    const last = ranges.at(-1);
    if (last?.toMs === ms) last.toMs += METRICS_EVERY_MS;
    else ranges.push({ fromMs: ms, toMs: ms + METRICS_EVERY_MS });
  }
  return ranges;
}
