import type { Clock } from '../../kernel/clock.ts';
import { addDays, countDaysBetween, type Day, listDaysBetween, toUtcDay } from '../../kernel/days.ts';
import { rejectViolations } from '../../kernel/errors.ts';
import { METRICS } from '../cost.ts';
import { weekday } from '../reports/period.ts';
import { added, type Micros, nothing, type Summaries, sumOf } from '../reports/summaries.ts';
import { errorBand, projected } from './projection.ts';

export type Forecasts = ReturnType<typeof createForecasts>;

export interface ForecastDay {
  date: Day;
  isExpected: boolean;
  micros: Micros;
}

export interface Forecast {
  month: string;
  /** The moment that counts as now. */
  asOf: number;
  /** What is booked for the month so far. */
  toDate: { through: Day | undefined; micros: Micros };
  low: number;
  expected: number;
  high: number;
  /** What each metric is expected to be at the end of the month. */
  micros: Micros;
  previousMonth: { month: string; micros: Micros };
  /** How many days it is made from. */
  historyDays: number;
  days: ForecastDay[];
}

/** Eight weeks for the shape, and as many forecasts of a month as fit before, to see how far off they would have been. */
const HISTORY_DAYS = 119;
const MONTHS_AHEAD = 12;

export function createForecasts({ summaries, clock }: { summaries: Summaries; clock: Clock }) {
  return {
    /** The end of a month, the current one when left out. A month that is over is what it was. */
    async of(organizationId: string, wanted?: string): Promise<Forecast> {
      const asOf = clock.now();
      const today = toUtcDay(asOf);
      const month = wanted ?? today.slice(0, 7);
      checkMonth(month, today);
      const [first, last] = [`${month}-01`, lastOf(month)];
      const before = addDays(first, -1).slice(0, 7);
      const historyFrom = addDays(today, -HISTORY_DAYS);
      const from = [`${before}-01`, historyFrom].sort()[0] ?? historyFrom;
      const through = [today, last].sort()[0] ?? today;
      const byDay = await booked(organizationId, from, through);
      const history = listDaysBetween(historyFrom, addDays(today, -1)).map((day) => byDay.get(day) ?? nothing());
      const expectations = expectedDays(history, historyFrom, today, last);
      const daysOf = (name: string) =>
        listDaysBetween(`${name}-01`, lastOf(name)).map((date) =>
          dayAt(date, today, byDay.get(date), expectations.get(date)),
        );
      const days = daysOf(month);
      const micros = added(days.map((day) => day.micros));
      const toDate = added(listDaysBetween(first, through).flatMap((day) => byDay.get(day) ?? []));
      const [expected, fixed] = [sumOf(micros), sumOf(toDate)];
      const open = Math.max(0, expected - fixed);
      const band = open === 0 ? 0 : bandOf(history, historyFrom, today, last);
      return {
        month,
        asOf,
        toDate: { through: through < first ? undefined : through, micros: toDate },
        low: Math.max(fixed, Math.round(fixed + open * (1 - band))),
        expected,
        high: Math.round(fixed + open * (1 + band)),
        micros,
        previousMonth: { month: before, micros: added(daysOf(before).map((day) => day.micros)) },
        historyDays: history.length - Math.max(0, firstCost(history)),
        days,
      };
    },
  };

  async function booked(organizationId: string, from: Day, to: Day): Promise<Map<Day, Micros>> {
    const days = listDaysBetween(from, to);
    const sums = await summaries.perDay(organizationId, days);
    return new Map(days.map((day, index) => [day, sums[index] ?? nothing()]));
  }
}

/** Of today and every day after it, up to the last one. */
function expectedDays(history: readonly Micros[], historyFrom: Day, today: Day, last: Day): Map<Day, Micros> {
  const days = listDaysBetween(today, last);
  const byMetric = METRICS.map((metric) =>
    projected(
      history.map((micros) => micros[metric]),
      weekday(historyFrom),
      days.length,
    ),
  );
  return new Map(
    days.map((day, at) => [
      day,
      Object.fromEntries(METRICS.map((metric, index) => [metric, Math.round(byMetric[index]?.[at] ?? 0)])) as Micros,
    ]),
  );
}

/** Today is not over: it costs what is booked already, or what is expected, whichever is more. */
function dayAt(date: Day, today: Day, actual = nothing(), expected?: Micros): ForecastDay {
  if (date < today || !expected) return { date, isExpected: false, micros: actual };
  const micros = Object.fromEntries(METRICS.map((metric) => [metric, Math.max(actual[metric], expected[metric])]));
  return { date, isExpected: true, micros: micros as Micros };
}

const DAYS_OF_A_MONTH = 30;

/** Months ahead are less certain than the rest of this one: the band widens with the root of the distance. */
function bandOf(history: readonly Micros[], historyFrom: Day, today: Day, last: Day): number {
  const horizon = countDaysBetween(today, last) + 1;
  const series = METRICS.map((metric) => history.map((micros) => micros[metric]));
  const band = errorBand(series, weekday(historyFrom), Math.min(horizon, DAYS_OF_A_MONTH));
  return Math.min(1, band * Math.sqrt(Math.max(1, horizon / DAYS_OF_A_MONTH)));
}

function checkMonth(month: string, today: Day): void {
  const latest = addDays(`${today.slice(0, 7)}-15`, MONTHS_AHEAD * (365 / 12)).slice(0, 7);
  if (month > latest)
    rejectViolations([{ path: 'month', rule: `The value must be ${latest} at the latest`, value: month }]);
}

const lastOf = (month: string): Day => addDays(`${addDays(`${month}-01`, 32).slice(0, 7)}-01`, -1);
const firstCost = (history: readonly Micros[]): number => {
  const first = history.findIndex((micros) => sumOf(micros) !== 0);
  return first < 0 ? history.length : first;
};
