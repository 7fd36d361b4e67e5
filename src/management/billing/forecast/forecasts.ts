import { rejectViolations } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { addDays, countDaysBetween, type Day, listDaysBetween, toUtcDay } from '../../../kernel/time/days.ts';
import { addMicros, type MetricMicros, totalMicros, zeroMicros } from '../cost.ts';
import { METRICS } from '../meter.ts';
import { getWeekday } from '../reports/period.ts';
import type { Summaries } from '../reports/summaries.ts';
import { estimateErrorBand, projectSeries } from './projection.ts';

export type Forecasts = ReturnType<typeof createForecasts>;

interface ForecastDay {
  date: Day;
  isExpected: boolean;
  micros: MetricMicros;
}

export interface Forecast {
  /** `2026-10` */
  month: string;
  asOf: number;
  /** The cost of the month up to and including `through`. */
  toDate: { through: Day | undefined; micros: MetricMicros };
  /** The total of the month, with its range, in micro-CHC. */
  low: number;
  expected: number;
  high: number;
  /** The expected total per metric. */
  micros: MetricMicros;
  previousMonth: { month: string; micros: MetricMicros };
  /** The number of days that the forecast is based on. */
  historyDays: number;
  days: ForecastDay[];
}

/** Eight weeks for the weekday pattern, the rest for backtests. */
const HISTORY_DAYS = 119;
const MAX_MONTHS_AHEAD = 12;
const DAYS_PER_MONTH = 30;

/** The days before today that a forecast is based on. */
interface History {
  from: Day;
  days: readonly MetricMicros[];
}

export function createForecasts({ summaries, clock }: { summaries: Summaries; clock: Clock }) {
  async function readDailyCosts(organizationId: string, from: Day, to: Day): Promise<Map<Day, MetricMicros>> {
    const days = listDaysBetween(from, to);
    const costs = await summaries.listDailyCosts(organizationId, days);
    return new Map(days.map((day, index) => [day, costs[index] ?? zeroMicros()]));
  }

  return {
    /** The current month when `requestedMonth` is omitted. A past month has its actual cost and no range. */
    async get(organizationId: string, requestedMonth?: string): Promise<Forecast> {
      const asOf = clock.now();
      const today = toUtcDay(asOf);
      const month = requestedMonth ?? today.slice(0, 7);
      checkMonth(month, today);
      const [firstDay, lastDay] = [`${month}-01`, getLastDay(month)];
      const previousMonth = addDays(firstDay, -1).slice(0, 7);
      const historyFrom = addDays(today, -HISTORY_DAYS);
      const through = earlier(today, lastDay);
      const actual = await readDailyCosts(organizationId, earlier(`${previousMonth}-01`, historyFrom), through);
      const history: History = {
        from: historyFrom,
        days: listDaysBetween(historyFrom, addDays(today, -1)).map((day) => actual.get(day) ?? zeroMicros()),
      };
      const expectedDays = projectDays(history, today, lastDay);
      const listMonth = (name: string) =>
        listDaysBetween(`${name}-01`, getLastDay(name)).map((date) =>
          toForecastDay(date, today, actual.get(date), expectedDays.get(date)),
        );
      const days = listMonth(month);
      const micros = addMicros(days.map((day) => day.micros));
      const toDate = addMicros(listDaysBetween(firstDay, through).flatMap((day) => actual.get(day) ?? []));
      const [expected, spent] = [totalMicros(micros), totalMicros(toDate)];
      const remaining = Math.max(0, expected - spent);
      const band = remaining === 0 ? 0 : estimateBand(history, today, lastDay);
      return {
        month,
        asOf,
        toDate: { through: through < firstDay ? undefined : through, micros: toDate },
        low: Math.max(spent, Math.round(spent + remaining * (1 - band))),
        expected,
        high: Math.round(spent + remaining * (1 + band)),
        micros,
        previousMonth: {
          month: previousMonth,
          micros: addMicros(listMonth(previousMonth).map((day) => day.micros)),
        },
        historyDays: countHistoryDays(history),
        days,
      };
    },
  };
}

/** The expected costs from today to the last day. */
function projectDays(history: History, today: Day, lastDay: Day): Map<Day, MetricMicros> {
  const days = listDaysBetween(today, lastDay);
  const projections = METRICS.map((metric) =>
    projectSeries(
      history.days.map((micros) => micros[metric]),
      getWeekday(history.from),
      days.length,
    ),
  );
  return new Map(
    days.map((day, ahead) => [
      day,
      Object.fromEntries(
        METRICS.map((metric, index) => [metric, Math.round(projections[index]?.[ahead] ?? 0)]),
      ) as MetricMicros,
    ]),
  );
}

/** For today, each metric is the larger of its cost so far and its expected cost. */
function toForecastDay(date: Day, today: Day, actual = zeroMicros(), expected?: MetricMicros): ForecastDay {
  if (date < today || !expected) return { date, isExpected: false, micros: actual };
  const micros = Object.fromEntries(METRICS.map((metric) => [metric, Math.max(actual[metric], expected[metric])]));
  return { date, isExpected: true, micros: micros as MetricMicros };
}

/** Beyond a month ahead, the band widens with the square root of the distance. */
function estimateBand(history: History, today: Day, lastDay: Day): number {
  const horizon = countDaysBetween(today, lastDay) + 1;
  const series = METRICS.map((metric) => history.days.map((micros) => micros[metric]));
  const band = estimateErrorBand(series, getWeekday(history.from), Math.min(horizon, DAYS_PER_MONTH));
  return Math.min(1, band * Math.sqrt(Math.max(1, horizon / DAYS_PER_MONTH)));
}

function checkMonth(month: string, today: Day): void {
  const latest = addDays(`${today.slice(0, 7)}-15`, MAX_MONTHS_AHEAD * (365 / 12)).slice(0, 7);
  if (month > latest)
    rejectViolations([{ path: 'month', rule: `The value must be ${latest} at the latest`, value: month }]);
}

/** Days before the first cost do not count. */
function countHistoryDays({ days }: History): number {
  const first = days.findIndex((micros) => totalMicros(micros) !== 0);
  return first < 0 ? 0 : days.length - first;
}

const getLastDay = (month: string): Day => addDays(`${addDays(`${month}-01`, 32).slice(0, 7)}-01`, -1);
const earlier = (a: Day, b: Day): Day => (a < b ? a : b);
