import type { Command } from 'commander';
import type { Threshold } from '../billing/budgets/budget.ts';
import type { BudgetSettings } from '../billing/budgets/budgets.ts';
import { toBudgetRecord } from '../billing/budgets/schema.ts';
import type { Domains } from '../domains.ts';
import { AppError } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import {
  chosenOrganization,
  localActor,
  nameMistakes,
  STORE_SETTINGS,
  table,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';

export function budgetCommands(program: Command, world: World): void {
  const budget = program.command('budget').description('budgets; a running server watches over them');
  const command = (name: string, description: string) =>
    withSettings(
      budget
        .command(name)
        .description(description)
        .option('--org <id or name>', 'organization')
        .option('--json', 'as JSON'),
      STORE_SETTINGS,
    );

  command('list', 'list budgets and what they have told this month').action(async (options) => {
    await withDomains(options, world, async (domains) => {
      const { id } = await chosenOrganization(domains, options.org);
      const records = (await domains.budgets.list(id)).map(toBudgetRecord);
      if (options.json) return world.print(JSON.stringify(records));
      const rows = records.map(({ id: own, name, monthlyCHC, thresholds, webhook, notices }) => [
        own,
        name,
        String(monthlyCHC),
        thresholds.join(','),
        webhook ? new URL(webhook.url).host : '',
        notices.map(({ threshold }) => threshold).join(','),
      ]);
      for (const line of table(['ID', 'NAME', 'CHC A MONTH', 'TELLS AT', 'WEBHOOK', 'TOLD'], rows)) world.print(line);
    });
  });

  withSettings(command('set', 'make a budget, or change the one of that name'), ['webhookAllowPrivate'])
    .argument('<name>', 'name of the budget')
    .option('--monthly <chc>', 'CHC in a calendar month (UTC)')
    .option('--threshold <threshold...>', 'percent, or forecast')
    .option('--webhook <url>', 'where to tell; none removes it')
    .action(async (name, options) => {
      const settings = settingsOf(name, options);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const known = await findByName(domains, id, name);
        if (!known && settings.monthlyCHC === undefined)
          throw new UsageError([`--monthly is needed for a new budget, and there is none named "${name}"`]);
        const shown = known
          ? await domains.budgets.update(localActor(world), id, known, settings)
          : await domains.budgets.create(localActor(world), id, settings);
        if (options.json) return world.print(JSON.stringify(toBudgetRecord(shown)));
        world.say(`${known ? 'Changed' : 'Made'} budget ${name}: ${toBudgetRecord(shown).monthlyCHC} CHC a month.`);
        if (shown.newSecret === undefined) return;
        world.say('Its secret is shown this once.');
        world.print(shown.newSecret);
      });
    });

  command('delete', 'delete a budget')
    .argument('<id or name>', 'the budget')
    .action(async (wanted, options) => {
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const own = isUuid(wanted) ? wanted.toLowerCase() : await findByName(domains, id, wanted);
        if (own === undefined) throw new AppError('not_found', `budget ${wanted} does not exist`);
        await domains.budgets.remove(localActor(world), id, own);
        world.print(options.json ? JSON.stringify({ id: own }) : `Deleted budget ${wanted}.`);
      });
    });
}

/** Names need not be unique; a command that means one of several must say which. */
async function findByName(domains: Domains, organizationId: string, name: string): Promise<string | undefined> {
  const found = (await domains.budgets.list(organizationId)).filter(({ budget }) => budget.name === name);
  if (found.length > 1) {
    const ids = found.map(({ budget }) => budget.id).join(', ');
    throw new UsageError([`${found.length} budgets are named "${name}": ${ids}`]);
  }
  return found[0]?.budget.id;
}

interface Given {
  monthly?: string;
  threshold?: string[];
  webhook?: string;
}

function settingsOf(name: string, { monthly, threshold, webhook }: Given): BudgetSettings {
  const mistakes = nameMistakes(name);
  const monthlyCHC = monthly === undefined ? undefined : Number(monthly);
  if (monthlyCHC !== undefined && !(monthlyCHC > 0))
    mistakes.push(`--monthly must be a number of CHC, not "${monthly}"`);
  const thresholds = threshold?.map((text): Threshold => (text === 'forecast' ? text : Number(text)));
  const isRight = (one: Threshold) => one === 'forecast' || (Number.isInteger(one) && one >= 1 && one <= 1000);
  if (thresholds && !thresholds.every(isRight))
    mistakes.push('--threshold must be a whole number of percent from 1 to 1000, or forecast');
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return {
    name,
    monthlyCHC,
    thresholds: thresholds && [...new Set(thresholds)],
    webhook: webhook === undefined ? undefined : webhook === 'none' ? null : { url: webhook },
  };
}
