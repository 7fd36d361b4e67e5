import { queryOptions } from '@tanstack/react-query';
import { dailyTotals, sumCredits, totalOf } from '../parts/costs.ts';
import { addDays, dayOf, daysBetween, firstOfMonth, lastOfMonth, monthOf } from '../parts/days.ts';
import type { Options } from './client.ts';
import type { Operations } from './generated.ts';
import { usageCostQuery } from './queries.ts';
import type { CostRecord } from './types.ts';

/** How the current month stands and where it will end. */
export interface Outlook {
  /** YYYY-MM. */
  month: string;
  monthToDateCHC: number;
  expectedCHC: number;
  /** Only where the server works the forecast out. */
  range?: { lowCHC: number; highCHC: number };
  previousMonthCHC: number;
}

interface ServerForecast {
  month: string;
  monthToDate: { totalCHC: number };
  forecast: { lowCHC: number; expectedCHC: number; highCHC: number };
  previousMonth: { totalCHC: number };
}

/** Servers before the forecast do not have it. */
type MaybeForecast = {
  usageCostForecastGet?: (input: { organizationId: string }, options?: Options) => Promise<ServerForecast>;
};

export function outlookQuery(api: Operations, organizationId: string, now: Date) {
  const today = dayOf(now);
  const { usageCostForecastGet: forecast } = api as MaybeForecast;
  return queryOptions({
    queryKey: [organizationId, 'outlook', today],
    staleTime: 60_000,
    async queryFn({ signal, client }): Promise<Outlook> {
      if (forecast) return outlookOf(await forecast({ organizationId }, { signal }));
      const [thisMonth, lastMonth] = await Promise.all([
        client.ensureQueryData(usageCostQuery(api, organizationId, firstOfMonth(today), today)),
        client.ensureQueryData(previousMonthQuery(api, organizationId, today)),
      ]);
      return estimate(thisMonth.costs, lastMonth.costs, today);
    },
  });
}

export function previousMonthQuery(api: Operations, organizationId: string, today: string) {
  const last = addDays(firstOfMonth(today), -1);
  return usageCostQuery(api, organizationId, firstOfMonth(last), last);
}

const outlookOf = ({ month, monthToDate, forecast, previousMonth }: ServerForecast): Outlook => ({
  month,
  monthToDateCHC: monthToDate.totalCHC,
  expectedCHC: forecast.expectedCHC,
  range: { lowCHC: forecast.lowCHC, highCHC: forecast.highCHC },
  previousMonthCHC: previousMonth.totalCHC,
});

const HISTORY_DAYS = 28;
const isWeekend = (day: string): boolean => [0, 6].includes(new Date(`${day}T00:00:00Z`).getUTCDay());

/** The days to come cost what the last four weeks' days of their kind cost: weekdays and weekends apart. */
export function estimate(thisMonth: CostRecord[], lastMonth: CostRecord[], today: string): Outlook {
  const yesterday = addDays(today, -1);
  const from = addDays(today, -HISTORY_DAYS);
  const history = dailyTotals([...lastMonth, ...thisMonth], from, yesterday);
  const days = daysBetween(from, yesterday);
  const mean = (weekend: boolean): number => {
    const amounts = history.filter((_, index) => isWeekend(days[index] ?? '') === weekend);
    return amounts.length === 0 ? 0 : sumCredits(amounts) / amounts.length;
  };
  const closed = totalOf(thisMonth.filter(({ date }) => date < today));
  const open = daysBetween(today, lastOfMonth(today)).map((day) => mean(isWeekend(day)));
  const monthToDateCHC = totalOf(thisMonth);
  return {
    month: monthOf(today),
    monthToDateCHC,
    expectedCHC: Math.max(sumCredits([closed, ...open]), monthToDateCHC),
    previousMonthCHC: totalOf(lastMonth),
  };
}
