import type { Static } from 'typebox';
import { systemClock } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import type { UsageCostForecast } from '../../management/billing/forecast/schema.ts';
import { EXPORT_FORMATS } from '../../management/billing/reports/exports.ts';
import { GROUPINGS } from '../../management/billing/reports/grouping.ts';
import { PERIOD_LENGTHS } from '../../management/billing/reports/period.ts';
import type { UsageCostSummary } from '../../management/billing/reports/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { anyText, jsonOption, option, optionWithDefault, organizationOption } from '../parameters.ts';

const fromOption = option('<date>', 'First day, YYYY-MM-DD; the first of the month if omitted');
const toOption = option('<date>', 'Last day, inclusive; today if omitted');
const OPTIONS = { from_date: 'from', to_date: 'to', by: 'by', group: 'group', format: 'format', month: 'month' };

const summarizeUsage = defineCommand({
  name: 'usage summary',
  summary: 'Summarize costs and compare them with the previous period',
  settings: API_SETTINGS,
  options: {
    org: organizationOption,
    from: fromOption,
    to: toOption,
    by: optionWithDefault('<period>', `Period: ${PERIOD_LENGTHS.join(', ')}`, 'month', anyText),
    group: optionWithDefault('<group>', `Group by: ${GROUPINGS.join(', ')}`, 'none', anyText),
    json: jsonOption,
  },
  run: ({ withApi, options: { from, to, by, group } }) =>
    withApi(async (api) => {
      const { rows, totals } = await api.call<Static<typeof UsageCostSummary>>('/usageCost/summary', {
        query: { ...toDays(from, to), by, group },
        options: OPTIONS,
      });
      return {
        json: { rows, totals },
        table: {
          header: ['PERIOD', 'GROUP', 'CHC', 'PREVIOUS', 'CHANGE'],
          rows: [...rows, { ...totals, period: 'total' }].map((row) => [
            row.period,
            formatGroup(row),
            formatChc(row.totalCHC),
            formatChc(row.previous.totalCHC),
            formatChc(row.changeCHC),
          ]),
        },
      };
    }),
});

const exportUsage = defineCommand({
  name: 'usage export',
  summary: 'Export costs to standard output as CSV or FOCUS 1.2',
  settings: API_SETTINGS,
  options: {
    org: organizationOption,
    from: fromOption,
    to: toOption,
    format: optionWithDefault('<format>', `Format: ${EXPORT_FORMATS.join(', ')}`, 'csv', anyText),
  },
  run: ({ withApi, write, options: { from, to, format } }) =>
    withApi(async (api) => {
      const query = { ...toDays(from, to), format };
      for await (const piece of api.download('/usageCost/export', { query, options: OPTIONS })) await write(piece);
      return {};
    }),
});

const forecastUsage = defineCommand({
  name: 'usage forecast',
  summary: 'Forecast the cost of a month',
  settings: API_SETTINGS,
  options: {
    org: organizationOption,
    month: option('<month>', 'Month, YYYY-MM; the current month if omitted'),
    json: jsonOption,
  },
  run: ({ withApi, options: { month: wanted } }) =>
    withApi(async (api) => {
      const request = { query: { month: wanted }, options: OPTIONS };
      const record = await api.call<Static<typeof UsageCostForecast>>('/usageCost/forecast', request);
      const { month, forecast, monthToDate, previousMonth, changeCHC } = record;
      return {
        json: record,
        table: {
          header: [month, 'CHC'],
          rows: [
            ['month to date', formatChc(monthToDate.totalCHC)],
            [
              'forecast',
              `${formatChc(forecast.expectedCHC)} (${formatChc(forecast.lowCHC)} to ${formatChc(forecast.highCHC)})`,
            ],
            [previousMonth.month, formatChc(previousMonth.totalCHC)],
            ['change', formatChc(changeCHC)],
          ],
        },
      };
    }),
});

export const usageReportCommands = [summarizeUsage, exportUsage, forecastUsage];

function toDays(from: string | undefined, to: string | undefined) {
  const last = to ?? toUtcDay(systemClock.now());
  return { from_date: from ?? `${last.slice(0, 7)}-01`, to_date: last };
}

interface Grouped {
  entityType?: string;
  entityName?: string;
  dataWarehouseId?: string;
  dataWarehouseName?: string;
  metric?: string;
}

const formatGroup = ({ metric, entityName, entityType, dataWarehouseName, dataWarehouseId }: Grouped): string =>
  metric ?? entityName ?? entityType ?? dataWarehouseName ?? dataWarehouseId ?? '';

const formatChc = (amount: number): string => amount.toFixed(2);
