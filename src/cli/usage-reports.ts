import { toForecastRecord } from '../billing/forecast/schema.ts';
import { EXPORT_FORMATS } from '../billing/reports/exports.ts';
import { GROUPINGS } from '../billing/reports/grouping.ts';
import { PERIOD_LENGTHS } from '../billing/reports/period.ts';
import { toSummaryRecord } from '../billing/reports/schema.ts';
import { MAX_SUMMARY_DAYS } from '../billing/reports/summaries.ts';
import { parseWindow, type Window } from '../billing/window.ts';
import { systemClock } from '../kernel/clock.ts';
import { toUtcDay } from '../kernel/days.ts';
import { INVALID, STORE_SETTINGS } from '../settings.ts';
import { defineCommand } from './command.ts';
import { jsonOption, oneOf, option, optionWithDefault, organizationOption, type ValueRule } from './parameters.ts';

const fromOption = option('<date>', 'First day, YYYY-MM-DD; the first of the month if omitted');
const toOption = option('<date>', 'Last day, inclusive; today if omitted');

const monthRule: ValueRule<string> = {
  rule: 'must look like 2026-11',
  parse: (text) => (/^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : INVALID),
};

const summarizeUsage = defineCommand({
  name: 'usage summary',
  summary: 'Summarize costs and compare them with the previous period',
  settings: STORE_SETTINGS,
  options: {
    org: organizationOption,
    from: fromOption,
    to: toOption,
    by: optionWithDefault('<period>', `Period: ${PERIOD_LENGTHS.join(', ')}`, 'month', oneOf(PERIOD_LENGTHS)),
    group: optionWithDefault('<group>', `Group by: ${GROUPINGS.join(', ')}`, 'none', oneOf(GROUPINGS)),
    json: jsonOption,
  },
  async run({ withOrganization, options: { from, to, by, group } }) {
    const window = parseDays(from, to, MAX_SUMMARY_DAYS);
    return withOrganization(async (organization, { reports }) => {
      const { rows, totals } = toSummaryRecord(await reports.summaries.get(organization.id, window, by, group));
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
    });
  },
});

const exportUsage = defineCommand({
  name: 'usage export',
  summary: 'Export costs to standard output as CSV or FOCUS 1.2',
  settings: STORE_SETTINGS,
  options: {
    org: organizationOption,
    from: fromOption,
    to: toOption,
    format: optionWithDefault('<format>', `Format: ${EXPORT_FORMATS.join(', ')}`, 'csv', oneOf(EXPORT_FORMATS)),
  },
  async run({ withOrganization, write, options: { from, to, format } }) {
    const window = parseDays(from, to, Number.POSITIVE_INFINITY);
    return withOrganization(async (organization, { reports }) => {
      for await (const piece of reports.exports.render(organization.id, window, format)) await write(piece);
      return {};
    });
  },
});

const forecastUsage = defineCommand({
  name: 'usage forecast',
  summary: 'Forecast the cost of a month',
  settings: STORE_SETTINGS,
  options: {
    org: organizationOption,
    month: option('<month>', 'Month, YYYY-MM; the current month if omitted', monthRule),
    json: jsonOption,
  },
  run: ({ withOrganization, options }) =>
    withOrganization(async (organization, { forecasts }) => {
      const record = toForecastRecord(await forecasts.get(organization.id, options.month));
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

function parseDays(from: string | undefined, to: string | undefined, maxDays: number): Window {
  const last = to ?? toUtcDay(systemClock.now());
  return parseWindow({ from_date: from ?? `${last.slice(0, 7)}-01`, to_date: last }, maxDays);
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
