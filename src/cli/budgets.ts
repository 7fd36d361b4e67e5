import type { Threshold } from '../billing/budgets/budget.ts';
import { toBudgetRecord } from '../billing/budgets/schema.ts';
import type { Domains } from '../domains.ts';
import { AppError } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import { INVALID, STORE_SETTINGS } from '../settings.ts';
import { defineCommand, UsageError } from './command.ts';
import {
  argument,
  jsonOption,
  listOption,
  nameRule,
  option,
  organizationOption,
  type ValueRule,
} from './parameters.ts';

const amountRule: ValueRule<number> = {
  rule: 'must be a positive number of CHC',
  parse: (text) => (Number(text) > 0 ? Number(text) : INVALID),
};

const thresholdRule: ValueRule<Threshold> = {
  rule: 'must be a whole percentage from 1 to 1000, or forecast',
  parse(text) {
    if (text === 'forecast') return text;
    const percent = Number(text);
    return Number.isInteger(percent) && percent >= 1 && percent <= 1000 ? percent : INVALID;
  },
};

const listBudgets = defineCommand({
  name: 'budget list',
  summary: 'List budgets and their alerts this month',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, { budgets }) => {
      const records = (await budgets.list(organization.id)).map(toBudgetRecord);
      const rows = records.map(({ id, name, monthlyCHC, thresholds, webhook, notices }) => [
        id,
        name,
        String(monthlyCHC),
        thresholds.join(','),
        webhook ? new URL(webhook.url).host : '',
        notices.map(formatNotice).join('; '),
      ]);
      return { json: records, table: { header: ['ID', 'NAME', 'MONTHLY CHC', 'ALERT AT', 'WEBHOOK', 'ALERTS'], rows } };
    }),
});

const setBudget = defineCommand({
  name: 'budget set',
  summary: 'Create a budget, or update the budget with this name',
  settings: [...STORE_SETTINGS, 'webhookAllowPrivate'],
  arguments: { name: argument('<name>', 'Name of the budget', nameRule) },
  options: {
    org: organizationOption,
    monthly: option('<chc>', 'Amount of CHC per calendar month (UTC)', amountRule),
    threshold: listOption('<threshold...>', 'When to alert: percentages of the amount, or forecast', thresholdRule),
    webhook: option('<url>', 'URL to send alerts to; none removes it'),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, arguments: { name }, options: { monthly, threshold, webhook } }) =>
    withOrganization(async ({ id: organizationId }, domains) => {
      const settings = {
        name,
        monthlyCHC: monthly,
        thresholds: threshold && [...new Set(threshold)],
        webhook: webhook === undefined ? undefined : webhook === 'none' ? null : { url: webhook },
      };
      const existingId = await findBudgetId(domains, organizationId, name);
      if (existingId === undefined && monthly === undefined)
        throw new UsageError([`--monthly is required to create a budget, and no budget is named "${name}"`]);
      const budget =
        existingId === undefined
          ? await domains.budgets.create(actor(), organizationId, settings)
          : await domains.budgets.update(actor(), organizationId, existingId, settings);
      const record = toBudgetRecord(budget);
      const verb = existingId === undefined ? 'Created' : 'Updated';
      const notes = [`${verb} budget ${name}: ${record.monthlyCHC} CHC per month.`];
      if (budget.newSecret === undefined) return { json: record, notes };
      return { json: record, notes: [...notes, 'The webhook secret is shown only once.'], lines: [budget.newSecret] };
    }),
});

const deleteBudget = defineCommand({
  name: 'budget delete',
  summary: 'Delete a budget',
  settings: STORE_SETTINGS,
  arguments: { budget: argument('<id or name>', 'Id or name of the budget') },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { budget } }) =>
    withOrganization(async (organization, domains) => {
      const id = isUuid(budget) ? budget.toLowerCase() : await findBudgetId(domains, organization.id, budget);
      if (id === undefined) throw new AppError('not_found', `budget ${budget} does not exist`);
      await domains.budgets.remove(actor(), organization.id, id);
      return { json: { id }, lines: [`Deleted budget ${budget}.`] };
    }),
});

export const budgetCommands = [listBudgets, setBudget, deleteBudget];

type Notice = ReturnType<typeof toBudgetRecord>['notices'][number];

/** "75 delivered", "90 pending, 6 attempts: …". */
function formatNotice({ threshold, delivery, attempts, lastError }: Notice): string {
  if (delivery === 'none') return String(threshold);
  if (lastError === undefined) return `${threshold} ${delivery}`;
  return `${threshold} ${delivery}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${lastError}`;
}

/** Names need not be unique; an ambiguous name is an error. */
async function findBudgetId(domains: Domains, organizationId: string, name: string): Promise<string | undefined> {
  const found = (await domains.budgets.list(organizationId)).filter(({ budget }) => budget.name === name);
  if (found.length > 1) {
    const ids = found.map(({ budget }) => budget.id).join(', ');
    throw new UsageError([`${found.length} budgets are named "${name}": ${ids}`]);
  }
  return found[0]?.budget.id;
}
