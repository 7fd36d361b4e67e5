import type { Command } from 'commander';
import type { Domains } from '../domains.ts';
import type { Day } from '../kernel/days.ts';
import { AppError } from '../kernel/errors.ts';
import {
  chosenOrganization,
  localActor,
  STORE_SETTINGS,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';
import { dayFrom } from './prices.ts';
import { countLine, createHttpSend, importUsage, type Send } from './usage-import.ts';

const SETTINGS = [...STORE_SETTINGS, 'clickhouseUrl', 'engineMemoryBytes'] as const;

export function usageCommands(program: Command, world: World): void {
  /** Runs it on an engine that runs already, and says what it did and how long that took. */
  async function sayChanges({ engine }: Domains, { json }: { json?: boolean }, rate: () => Promise<number>) {
    await engine.start();
    const startedAt = performance.now();
    const entries = await rate();
    const ms = Math.round(performance.now() - startedAt);
    world.print(json ? JSON.stringify({ entries, ms }) : `${entries} entries of the ledger changed, in ${ms} ms.`);
  }

  const usage = program.command('usage').description('metered usage and the ledger');
  const command = (name: string, description: string) =>
    withSettings(
      usage
        .command(name)
        .description(description)
        .option('--org <id or name>', 'organization')
        .option('--json', 'as JSON'),
      SETTINGS,
    );

  command('import', 'take metered usage from a file; running it again counts nothing twice')
    .argument('<file>', 'CSV with a first row of names, NDJSON (both also .gz), or Parquet')
    .option('--format <format>', 'csv, ndjson or parquet, when the name does not say so')
    .option('--url <url>', 'send it to a running server, instead of into the stores themselves')
    .option('--key <id:secret>', 'key of the organization, with --url')
    .action(async (path, options) => {
      const run = async (send: Send, rate = async () => {}) => {
        const { errors, ...counts } = await importUsage(world, path, options.format, send);
        await rate();
        if (options.json) world.print(JSON.stringify({ ...counts, errors }));
        else world.print(`${countLine(counts)}.`);
        for (const { index, field, reason } of options.json ? [] : errors)
          world.say(`event ${index + 1}: ${field === '' ? '' : `${field}: `}${reason}`);
        if (counts.rejected > 0) throw new Error(`${counts.rejected} events were rejected; the others are counted`);
      };
      if (options.url !== undefined || options.key !== undefined) return run(await httpSend(options));
      await withDomains(quiet(options, world), world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const rate = async () => void (await domains.rating.rateChanged(id));
        await run((events) => domains.intake.ingest(id, () => events), rate).catch((error: Error) => {
          // The embedded engine belongs to one process at a time.
          if (!/Another process uses the engine/.test(error.message)) throw error;
          throw new AppError(
            'unavailable',
            `${error.message}. Or send the file through the server that runs there, with --url and --key`,
          );
        });
      });
    });

  command('rate', 'rate what has changed, now; a running server does so by itself').action(async (options) => {
    await withDomains(quiet(options, world), world, async (domains) => {
      await domains.intake.recoverUnfinished();
      await sayChanges(domains, options, () => domains.rating.rateChanged());
    });
  });

  command('lock', 'close days for good; what arrives for them later is booked on the first open day')
    .requiredOption('--through <date>', 'the last day to close, YYYY-MM-DD; it must be over')
    .action(async (options) => {
      const through = dayFrom('--through', options.through);
      await withDomains(quiet(options, world), world, async (domains) => {
        const { id, name } = await chosenOrganization(domains, options.org);
        const days = await domains.rating.lockDays(localActor(world, 'usage'), id, through);
        world.print(
          options.json
            ? JSON.stringify({ lockedThrough: through, days })
            : `${name} is locked through ${through}; ${days} days were open.`,
        );
      });
    });

  command('recompute', 'rate every day again from the raw events, or only check that nothing would change')
    .option('--check', 'change nothing; fail when the ledger is not what the events give')
    .option('--from <date>', 'first day')
    .option('--to <date>', 'last day')
    .action(async (options) => {
      const day = (flag: string, text: string | undefined): Day | undefined =>
        text === undefined ? undefined : dayFrom(flag, text);
      const range = { from: day('--from', options.from), to: day('--to', options.to) };
      await withDomains(quiet(options, world), world, async (domains) => {
        const organizationId =
          options.org === undefined ? undefined : (await chosenOrganization(domains, options.org)).id;
        if (!options.check)
          return sayChanges(domains, options, () => domains.rating.rateAll({ organizationId, ...range }, 'all'));
        const { days, lines, waiting, differences } = await domains.rating.check({ organizationId, ...range });
        if (options.json) world.print(JSON.stringify({ days, lines, waiting, differences }));
        else {
          for (const { date, what, ledger, events } of differences)
            world.print(`${date}  ${what}  ledger: ${ledger}  events: ${events}`);
          world.print(
            `${days} days, ${lines} totals compared, ${differences.length} differences, ${waiting} days wait to be rated.`,
          );
        }
        if (differences.length > 0) throw new Error('The ledger is not what the events give');
      });
    });
}

/** The engine that a command starts for a moment is nobody's concern. */
const quiet = (options: Record<string, unknown>, world: World) =>
  world.environment.PILOTHOUSE_LOG_LEVEL ? options : { logLevel: 'warn', ...options };

async function httpSend({ url, key }: { url?: string; key?: string }): Promise<Send> {
  const mistakes = [];
  if (!/^https?:\/\//.test(url ?? '')) mistakes.push('--url must look like http://127.0.0.1:8080');
  if (!/^[^:]+:.+$/.test(key ?? '')) mistakes.push('--key must look like id:secret');
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return createHttpSend(url ?? '', key ?? '');
}
