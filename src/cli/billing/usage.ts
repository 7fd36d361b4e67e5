import { AppError } from '../../kernel/errors.ts';
import { plural } from '../../kernel/text.ts';
import { describeMismatch, REMEDY } from '../../management/billing/metering/engine-binding.ts';
import type { IntakeResult } from '../../management/billing/metering/intake.ts';
import type { LedgerCheck } from '../../management/billing/rating/check-ledger.ts';
import { isDirectoryInUse } from '../../platform/engine/failures.ts';
import type { Domains } from '../../server/domains.ts';
import { API_SETTINGS, ENGINE_SETTINGS } from '../../server/settings/settings.ts';
import { type CommandOutput, defineCommand } from '../command.ts';
import { getOrganization } from '../context.ts';
import { argument, dayRule, flag, jsonOption, option, organizationOption, requiredOption } from '../parameters.ts';
import { createApiSend, formatCounts, importUsage, type Send } from './usage-import.ts';

/** Hides the messages of an engine that runs only during the command. */
const QUIET = { logLevel: 'warn' };

const optionalOrganization = option('<id or name>', 'Organization; all organizations if omitted');

const importEvents = defineCommand({
  name: 'usage import',
  summary: 'Import usage events from a file; importing a file again is safe',
  settings: [...new Set([...API_SETTINGS, ...ENGINE_SETTINGS])],
  defaults: QUIET,
  arguments: {
    file: argument('<file>', 'CSV with a header row, NDJSON (either may be gzipped, .gz) or Parquet'),
  },
  options: {
    org: organizationOption,
    format: option('<format>', 'csv, ndjson or parquet; required if the file name does not end in one of them'),
    json: jsonOption,
  },
  async run(context) {
    const { format } = context.options;
    const send = (target: Send) => importUsage(context, context.arguments.file, format, target);
    if (await context.findServer()) return context.withApi(async (api) => formatImport(await send(createApiSend(api))));
    return context.withOrganization(async ({ id }, { intake, rating }) => {
      const result = await send((events) => intake.ingest(id, () => events)).catch(suggestServer);
      await rating.rateChanged(id);
      return formatImport(result);
    });
  },
});

/** The embedded engine allows one process at a time. */
function suggestServer(error: Error): never {
  if (!isDirectoryInUse(error)) throw error;
  throw new AppError(
    'unavailable',
    `${error.message}. To use the running server, set --url, PILOTHOUSE_URL or a profile`,
  );
}

function formatImport({ errors, ...counts }: IntakeResult): CommandOutput {
  const { rejected } = counts;
  return {
    json: { ...counts, errors },
    lines: [`${formatCounts(counts)}.`],
    notes: errors.map(({ index, field, reason }) => `event ${index + 1}: ${field === '' ? '' : `${field}: `}${reason}`),
    error:
      rejected > 0
        ? new Error(
            `${plural(rejected, 'event')} ${rejected === 1 ? 'was' : 'were'} rejected; all others were imported`,
          )
        : undefined,
  };
}

const rateUsage = defineCommand({
  name: 'usage rate',
  summary: 'Rate changed days now; a running server does this automatically',
  settings: ENGINE_SETTINGS,
  defaults: QUIET,
  options: { org: optionalOrganization, json: jsonOption },
  run: ({ withDomains, options: { org } }) =>
    withDomains(async (domains) => {
      const organizationId = await findOrganizationId(domains, org);
      await domains.intake.recoverUnfinished();
      return measureRating(domains, () => domains.rating.rateChanged(organizationId));
    }),
});

const lockDays = defineCommand({
  name: 'usage lock',
  summary: 'Lock days permanently; later usage is booked on the first open day',
  settings: [...new Set([...API_SETTINGS, ...ENGINE_SETTINGS])],
  defaults: QUIET,
  options: {
    org: organizationOption,
    through: requiredOption('<date>', 'Last day to lock, YYYY-MM-DD; must be in the past', dayRule),
    json: jsonOption,
  },
  async run(context) {
    const { through } = context.options;
    if (await context.findServer())
      return context.withApi(async (api) => {
        const request = { method: 'POST', body: { through }, options: { through: 'through' } } as const;
        return formatLock(await api.call<LockedDays>('/usageLock', request));
      });
    return context.withOrganization(async ({ id }, { rating }) => {
      const days = await rating.lockDays(context.actor('usage'), id, through).catch(suggestServer);
      return formatLock({ lockedThrough: through, days });
    });
  },
});

interface LockedDays {
  lockedThrough: string;
  days: number;
}

const formatLock = ({ lockedThrough, days }: LockedDays): CommandOutput => ({
  json: { lockedThrough, days },
  lines: [`Locked ${plural(days, 'day')}; all days through ${lockedThrough} are locked.`],
});

const recomputeLedger = defineCommand({
  name: 'usage recompute',
  summary: 'Rate all days again from the usage events, or check that nothing would change',
  settings: ENGINE_SETTINGS,
  defaults: QUIET,
  options: {
    org: optionalOrganization,
    check: flag('Change nothing; fail if the ledger differs from the usage events'),
    from: option('<date>', 'First day, YYYY-MM-DD', dayRule),
    to: option('<date>', 'Last day, YYYY-MM-DD', dayRule),
    json: jsonOption,
  },
  run: ({ withDomains, options: { org, check, from, to } }) =>
    withDomains(async (domains) => {
      const range = { organizationId: await findOrganizationId(domains, org), from, to };
      if (check) return checkLedger(domains, range);
      return measureRating(domains, () => domains.rating.rateAll(range, 'all'));
    }),
});

export const usageCommands = [importEvents, rateUsage, lockDays, recomputeLedger];

const findOrganizationId = async (domains: Domains, wanted: string | undefined): Promise<string | undefined> =>
  wanted === undefined ? undefined : (await getOrganization(domains, wanted)).id;

/** Starts the engine first, so that the time covers the rating only. */
async function measureRating({ engine }: Domains, rate: () => Promise<number>): Promise<CommandOutput> {
  await engine.start();
  const startedAt = performance.now();
  const entries = await rate();
  const ms = Math.round(performance.now() - startedAt);
  return {
    json: { entries, ms },
    lines: [`${plural(entries, 'ledger entry', 'ledger entries')} changed in ${ms} ms.`],
  };
}

async function checkLedger(
  { rating }: Domains,
  range: Parameters<Domains['rating']['check']>[0],
): Promise<CommandOutput> {
  const check = await rating.check(range);
  const { days, lines, waiting, mismatches, differences } = check;
  return {
    json: { days, lines, waiting, mismatches, differences },
    lines: [
      ...differences.map(
        ({ date, what, ledger, events }) => `${date}  ${what}  ledger: ${ledger}  usage events: ${events}`,
      ),
      ...mismatches.map(({ date, mismatch }) => `${date}  not compared: ${describeMismatch(mismatch)}`),
      `Compared ${plural(lines, 'total')} on ${plural(days, 'day')}: ${plural(differences.length, 'difference')}. Waiting to be rated: ${plural(waiting, 'day')}.`,
    ],
    error: findCheckError(check),
  };
}

/** A check that compared nothing proves nothing. */
function findCheckError({ days, waiting, mismatches, differences }: LedgerCheck): Error | undefined {
  if (mismatches.length > 0)
    return new Error(`${plural(mismatches.length, 'day')} could not be compared with the usage events: ${REMEDY}`);
  if (differences.length > 0) return new Error('The ledger differs from the usage events');
  if (days > 0) return undefined;
  return new Error(
    waiting > 0
      ? 'Nothing was compared: no day is rated yet; run pilothouse usage rate first'
      : 'Nothing was compared: there is no metered usage',
  );
}
