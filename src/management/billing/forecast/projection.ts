/** The costs of consecutive days, in micro-CHC. */
type CostSeries = readonly number[];

const WEEK = 7;
/** Eight of each weekday: enough for a pattern, and recent. */
const PATTERN_DAYS = 8 * WEEK;
const LEVEL_DAYS = 2 * WEEK;
/** Per week, up or down: faster growth rarely lasts a month. */
const MAX_WEEKLY_GROWTH = 1.03;
const GROWING_WEEKS = 4;

/**
 * Projects the next `count` days of a series whose first day is `firstWeekday` (0 is Monday). The cost of a weekday is
 * the median of its last eight values times the level: the ratio of the last two weeks to these medians, as the mean of
 * the middle half, so that a few outliers change nothing. Growth continues only if eight weeks show a trend: each of
 * the last four above each of the four before, and still rising, or the reverse.
 */
export function projectSeries(series: CostSeries, firstWeekday: number, count: number): number[] {
  const start = Math.max(findFirstCost(series), series.length - PATTERN_DAYS);
  const values = series.slice(start);
  const weekdayAt = (index: number) => (firstWeekday + start + index) % WEEK;
  if (values.length < WEEK) {
    const flat = mean(values);
    return Array.from({ length: count }, () => flat);
  }
  const pattern = Array.from({ length: WEEK }, (_, day) =>
    median(values.filter((_value, at) => weekdayAt(at) === day)),
  );
  const ratios = values.flatMap((value, at) => {
    const typical = pattern[weekdayAt(at)] ?? 0;
    return at < values.length - LEVEL_DAYS || typical === 0 ? [] : [value / typical];
  });
  const level = ratios.length === 0 ? 1 : interquartileMean(ratios);
  const growth = estimateWeeklyGrowth(values);
  return Array.from({ length: count }, (_, ahead) => {
    // The level is one week old. Growth continues no longer than it was observed.
    const weeks = Math.min(1 + (ahead + 1) / WEEK, GROWING_WEEKS + 1);
    return (pattern[weekdayAt(values.length + ahead)] ?? 0) * level * growth ** weeks;
  });
}

/** Days before the first cost are not part of the history. */
function findFirstCost(series: CostSeries): number {
  const first = series.findIndex((value) => value !== 0);
  return first < 0 ? series.length : first;
}

function estimateWeeklyGrowth(values: CostSeries): number {
  if (values.length < 2 * GROWING_WEEKS * WEEK) return 1;
  const weeks = Array.from({ length: 2 * GROWING_WEEKS }, (_, week) => {
    const end = values.length - (2 * GROWING_WEEKS - 1 - week) * WEEK;
    return mean(values.slice(end - WEEK, end));
  });
  const [earlier, later] = [weeks.slice(0, GROWING_WEEKS), weeks.slice(GROWING_WEEKS)];
  const steps = later.slice(1).map((week, at) => week - (later[at] ?? 0));
  const isUp = Math.min(...later) > Math.max(...earlier) && steps.every((step) => step > 0);
  const isDown = Math.max(...later) < Math.min(...earlier) && steps.every((step) => step < 0);
  if (!isUp && !isDown) return 1;
  const growth = (mean(later) / mean(earlier)) ** (1 / GROWING_WEEKS);
  return Math.min(MAX_WEEKLY_GROWTH, Math.max(1 / MAX_WEEKLY_GROWTH, growth));
}

const MIN_HISTORY_DAYS = 2 * WEEK;
const MIN_BACKTESTS = 8;
const COVERED_SHARE = 0.9;
/** Backtests overlap, so they are fewer than their number suggests. */
const SAFETY_FACTOR = 1.25;
const MIN_BAND = 0.01;
/** Also used without enough history. */
const MAX_BAND = 0.5;

/**
 * The expected error of a forecast of `horizon` days, as a share of its sum. Backtests forecast each earlier period of
 * that length from the days before it; the band covers nine of ten of their errors, plus a quarter.
 */
export function estimateErrorBand(series: readonly CostSeries[], firstWeekday: number, horizon: number): number {
  const total = (series[0] ?? []).map((_, day) => sum(series.map((values) => values[day] ?? 0)));
  const start = findFirstCost(total);
  const length = total.length - start;
  const days = Math.min(horizon, length - MIN_HISTORY_DAYS - MIN_BACKTESTS + 1);
  if (days < 1) return MAX_BAND;
  const errors: number[] = [];
  for (let origin = start + MIN_HISTORY_DAYS; origin + days <= total.length; origin++) {
    const expected = sum(series.map((values) => sum(projectSeries(values.slice(0, origin), firstWeekday, days))));
    const actual = sum(total.slice(origin, origin + days));
    if (expected > 0) errors.push(Math.abs(actual - expected) / expected);
  }
  if (errors.length === 0) return MAX_BAND;
  const covered = errors.sort((a, b) => a - b)[Math.ceil(errors.length * COVERED_SHARE) - 1] ?? MAX_BAND;
  return Math.min(MAX_BAND, Math.max(MIN_BAND, covered * SAFETY_FACTOR));
}

export const sum = (values: CostSeries): number => values.reduce((total, value) => total + value, 0);
const mean = (values: CostSeries): number => (values.length === 0 ? 0 : sum(values) / values.length);

function median(values: CostSeries): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return mean(sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1));
}

/** The mean without the lowest and the highest quarter. */
function interquartileMean(values: CostSeries): number {
  const quarter = Math.floor(values.length / 4);
  return mean(values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter));
}
