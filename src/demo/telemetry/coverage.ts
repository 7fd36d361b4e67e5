import { METRICS_EVERY_MS } from './traffic.ts';

export interface Range {
  fromMs: number;
  /** Exclusive. */
  toMs: number;
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
