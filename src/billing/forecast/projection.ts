/** What one day costs, in micro-CHC; consecutive days. */
export type Series = readonly number[];

const WEEK = 7;
/** Eight of each weekday: enough for a shape, recent enough to be today's. */
const SHAPE_DAYS = 8 * WEEK;
const LEVEL_DAYS = 2 * WEEK;
/** No business grows faster than this for long, and a month is long: per week, either way. */
const MOST_GROWTH = 1.03;
const GROWING_WEEKS = 4;

/**
 * The next `count` days after a series whose first day is `firstWeekday` (0 is Monday). A weekday costs what the middle
 * one of its last eight cost, times how high the last two weeks stood above that shape (the mean of the middle half, so
 * that a day or three that went astray change nothing). Growth is carried on only where eight weeks agree that there is
 * some: each of the last four above each of the four before, and still rising.
 */
export function projected(series: Series, firstWeekday: number, count: number): number[] {
  const begin = Math.max(started(series), series.length - SHAPE_DAYS);
  const values = series.slice(begin);
  const weekdayAt = (index: number) => (firstWeekday + begin + index) % WEEK;
  if (values.length < WEEK) {
    const flat = mean(values);
    return Array.from({ length: count }, () => flat);
  }
  const shape = Array.from({ length: WEEK }, (_, day) => median(values.filter((_value, at) => weekdayAt(at) === day)));
  const heights = values.flatMap((value, at) => {
    const usual = shape[weekdayAt(at)] ?? 0;
    return at < values.length - LEVEL_DAYS || usual === 0 ? [] : [value / usual];
  });
  const level = heights.length === 0 ? 1 : middleMean(heights);
  const growth = weeklyGrowth(values);
  return Array.from({ length: count }, (_, ahead) => {
    // The level is that of a week ago; growth is not carried further than it has been seen.
    const weeks = Math.min(1 + (ahead + 1) / WEEK, GROWING_WEEKS + 1);
    return (shape[weekdayAt(values.length + ahead)] ?? 0) * level * growth ** weeks;
  });
}

/** Days before the first cost are not days without cost. */
function started(series: Series): number {
  const first = series.findIndex((value) => value !== 0);
  return first < 0 ? series.length : first;
}

function weeklyGrowth(values: Series): number {
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
  return Math.min(MOST_GROWTH, Math.max(1 / MOST_GROWTH, growth));
}

const LEAST_HISTORY = 2 * WEEK;
const LEAST_ORIGINS = 8;
const COVERED = 0.9;
/** Windows that overlap tell less than their number, and what went well so far may not go on. */
const CAUTION = 1.25;
const SMALLEST_BAND = 0.01;
/** Nothing to learn from yet. */
const WIDEST_BAND = 0.5;

/**
 * How far, as a share, the sum of the next `horizon` days may lie from what is expected: what nine of ten forecasts of
 * as many days, each made from the days before it alone, would have been off by, and a quarter more.
 */
export function errorBand(all: readonly Series[], firstWeekday: number, horizon: number): number {
  const total = (all[0] ?? []).map((_, day) => all.reduce((sum, series) => sum + (series[day] ?? 0), 0));
  const begin = started(total);
  const length = total.length - begin;
  const days = Math.min(horizon, length - LEAST_HISTORY - LEAST_ORIGINS + 1);
  if (days < 1) return WIDEST_BAND;
  const errors: number[] = [];
  for (let origin = begin + LEAST_HISTORY; origin + days <= total.length; origin++) {
    const expected = all.reduce(
      (sum, series) => sum + added(projected(series.slice(0, origin), firstWeekday, days)),
      0,
    );
    const actual = added(total.slice(origin, origin + days));
    if (expected > 0) errors.push(Math.abs(actual - expected) / expected);
  }
  if (errors.length === 0) return WIDEST_BAND;
  const usual = errors.sort((a, b) => a - b)[Math.ceil(errors.length * COVERED) - 1] ?? WIDEST_BAND;
  return Math.min(WIDEST_BAND, Math.max(SMALLEST_BAND, usual * CAUTION));
}

export const added = (values: Series): number => values.reduce((sum, value) => sum + value, 0);
const mean = (values: Series): number => (values.length === 0 ? 0 : added(values) / values.length);

function median(values: Series): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return mean(sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1));
}

/** Of the half that lies in the middle. */
function middleMean(values: Series): number {
  const quarter = Math.floor(values.length / 4);
  return mean(values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter));
}
