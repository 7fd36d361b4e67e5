import type { Command } from 'commander';
import { toForecastRecord } from '../billing/forecast/schema.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../billing/reports/exports.ts';
import { GROUPINGS, type Grouping } from '../billing/reports/grouping.ts';
import { PERIOD_LENGTHS, type PeriodLength } from '../billing/reports/period.ts';
import { toSummaryRecord } from '../billing/reports/schema.ts';
import { MAX_SUMMARY_DAYS } from '../billing/reports/summaries.ts';
import { parseWindow, type Window } from '../billing/window.ts';
import { systemClock } from '../kernel/clock.ts';
import { toUtcDay } from '../kernel/days.ts';
import {
  chosenOrganization,
  STORE_SETTINGS,
  table,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';

/** What the bill says; beside the commands that make it. */
export function usageReportCommands(program: Command, world: World): void {
  const usage =
    program.commands.find((command) => command.name() === 'usage') ??
    program.command('usage').description('metered usage and the ledger');
  const command = (name: string, description: string) =>
    withSettings(
      usage.command(name).description(description).option('--org <id or name>', 'organization'),
      STORE_SETTINGS,
    );
  const withDays = (one: Command) =>
    one
      .option('--from <date>', 'first day, YYYY-MM-DD; the first of this month when left out')
      .option('--to <date>', 'last day, included; today when left out');

  withDays(command('summary', 'sum up costs, beside those of the period before'))
    .option('--by <period>', PERIOD_LENGTHS.join(', '), 'month')
    .option('--group <group>', GROUPINGS.join(', '), 'none')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const window = windowOf(options, MAX_SUMMARY_DAYS);
      const step = oneOf<PeriodLength>('--by', PERIOD_LENGTHS, options.by);
      const grouping = oneOf<Grouping>('--group', GROUPINGS, options.group);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const { rows, totals } = toSummaryRecord(await domains.reports.summaries.get(id, window, step, grouping));
        if (options.json) return world.print(JSON.stringify({ rows, totals }));
        const lines = [...rows, { ...totals, period: 'all' }].map((row) => [
          row.period,
          groupOf(row),
          chc(row.totalCHC),
          chc(row.previous.totalCHC),
          chc(row.changeCHC),
        ]);
        for (const line of table(['PERIOD', 'GROUP', 'CHC', 'BEFORE', 'CHANGE'], lines)) world.print(line);
      });
    });

  withDays(command('export', 'write costs to standard output, as CSV or FOCUS 1.2'))
    .option('--format <format>', EXPORT_FORMATS.join(', '), 'csv')
    .action(async (options) => {
      const window = windowOf(options, Number.POSITIVE_INFINITY);
      const format = oneOf<ExportFormat>('--format', EXPORT_FORMATS, options.format);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        for await (const piece of domains.reports.exports.render(id, window, format)) await world.write(piece);
      });
    });

  command('forecast', 'what a month will have cost')
    .option('--month <month>', 'YYYY-MM; this month when left out')
    .option('--json', 'as JSON')
    .action(async (options) => {
      if (options.month !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(options.month))
        throw new UsageError([`--month must look like 2026-11, not "${options.month}"`]);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const record = toForecastRecord(await domains.forecasts.get(id, options.month));
        if (options.json) return world.print(JSON.stringify(record));
        const { forecast, monthToDate, previousMonth } = record;
        const rows = [
          ['booked so far', chc(monthToDate.totalCHC)],
          ['expected', `${chc(forecast.expectedCHC)} (${chc(forecast.lowCHC)} to ${chc(forecast.highCHC)})`],
          [previousMonth.month, chc(previousMonth.totalCHC)],
          ['change', chc(record.changeCHC)],
        ];
        for (const line of table([record.month, 'CHC'], rows)) world.print(line);
      });
    });
}

function windowOf({ from, to }: { from?: string; to?: string }, maxDays: number): Window {
  const today = toUtcDay(systemClock.now());
  const last = to ?? today;
  return parseWindow({ from_date: from ?? `${last.slice(0, 7)}-01`, to_date: last }, maxDays);
}

function oneOf<T extends string>(flag: string, allowed: readonly T[], given: string): T {
  const found = allowed.find((one) => one === given);
  if (found === undefined) throw new UsageError([`${flag} must be one of ${allowed.join(', ')}, not "${given}"`]);
  return found;
}

interface Grouped {
  entityType?: string;
  entityName?: string;
  dataWarehouseId?: string;
  dataWarehouseName?: string;
  metric?: string;
}

const groupOf = ({ metric, entityName, entityType, dataWarehouseName, dataWarehouseId }: Grouped): string =>
  metric ?? entityName ?? entityType ?? dataWarehouseName ?? dataWarehouseId ?? '';

const chc = (amount: number): string => amount.toFixed(2);
