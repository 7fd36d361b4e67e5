import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';

/** Lengths of windows in milliseconds. */
export const INTERVALS = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
} as const;
export type Interval = keyof typeof INTERVALS;

/** What decides where windows start. */
export interface Schedule {
  interval: Interval;
  scheduleOffsetMinutes: number;
  /** Epoch milliseconds, whole seconds; windows start there, and none before it. */
  scheduleStartAt: number | null;
  evaluationDelaySeconds: number;
}

/** Consecutive windows: the first starts at `startMs`, each lasts `stepMs`. */
export interface Windows {
  startMs: number;
  stepMs: number;
  count: number;
  /** Windows before them that are not evaluated any more, because too much time has passed. */
  skipped: number;
}

const MAX_WINDOWS = 50;
const MAX_CATCH_UP = { short: 6 * HOUR_MS, long: DAY_MS };

/** A time at which a window starts. */
const getAnchor = ({ scheduleOffsetMinutes, scheduleStartAt }: Schedule): number =>
  scheduleStartAt ?? scheduleOffsetMinutes * MINUTE_MS;

/** The last start of a window that is not after `atMs`: also the end of the last complete window then. */
export function findWindowStart(schedule: Schedule, atMs: number): number {
  const step = INTERVALS[schedule.interval];
  const anchor = getAnchor(schedule);
  return anchor + Math.floor((atMs - anchor) / step) * step;
}

/** By how much a clock may be set back without a window being evaluated twice. More, and the time was a wrong one. */
const MAX_AHEAD_MS = HOUR_MS;

/**
 * The complete windows after `evaluatedUntil`, or the last one for an alert that was never evaluated. After a pause only
 * the newest are evaluated. A time that is more than a window or an hour ahead was stored by a wrong clock: the last complete
 * window is evaluated, and the next ones follow.
 */
export function listDueWindows(schedule: Schedule, evaluatedUntil: number | undefined, nowMs: number): Windows {
  const stepMs = INTERVALS[schedule.interval];
  const endMs = findWindowStart(schedule, nowMs - schedule.evaluationDelaySeconds * SECOND_MS);
  const longest = stepMs < INTERVALS['15m'] ? MAX_CATCH_UP.short : MAX_CATCH_UP.long;
  const maxCount = Math.max(1, Math.min(MAX_WINDOWS, longest / stepMs));
  const isKnown = evaluatedUntil !== undefined && evaluatedUntil <= nowMs + Math.min(stepMs, MAX_AHEAD_MS);
  const known = isKnown ? evaluatedUntil : endMs - stepMs;
  const first = Math.max(findWindowStart(schedule, known), schedule.scheduleStartAt ?? Number.NEGATIVE_INFINITY);
  const due = Math.max(0, Math.floor((endMs - first) / stepMs));
  const count = Math.min(due, maxCount);
  return { startMs: endMs - count * stepMs, stepMs, count, skipped: due - count };
}

/** When the window after `evaluatedUntil` can be evaluated. */
export const findNextEvaluation = (schedule: Schedule, evaluatedUntil: number): number =>
  Math.max(evaluatedUntil, schedule.scheduleStartAt ?? 0) +
  INTERVALS[schedule.interval] +
  schedule.evaluationDelaySeconds * SECOND_MS;
