import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Threshold } from '../../management/billing/budgets/budget.ts';
import type { BudgetRecord } from '../../management/billing/budgets/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, defineCommand, UsageError } from '../command.ts';
import {
  argument,
  jsonOption,
  listOption,
  numberRule,
  option,
  organizationOption,
  type ValueRule,
} from '../parameters.ts';

type Budget = Static<typeof BudgetRecord>;

/** The API checks the percentage. */
const thresholdRule: ValueRule<Threshold> = {
  rule: 'must be a percentage or forecast',
  parse: (text) => (text === 'forecast' ? text : numberRule.parse(text)),
};

const listBudgets = defineCommand({
  name: 'budget list',
  summary: 'List budgets and their alerts this month',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const records = await api.list<Budget>('/budgets');
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
  settings: [...API_SETTINGS, 'webhookAllowPrivate'],
  arguments: { name: argument('<name>', 'Name of the budget') },
  options: {
    org: organizationOption,
    monthly: option('<chc>', 'Amount of CHC per calendar month (UTC)', numberRule),
    threshold: listOption('<threshold...>', 'When to alert: percentages of the amount, or forecast', thresholdRule),
    webhook: option('<url>', 'URL to send alerts to; none removes it'),
    json: jsonOption,
  },
  run: ({ withApi, arguments: { name }, options: { monthly, threshold, webhook } }) =>
    withApi(async (api) => {
      const existingId = await findBudgetId(api, name);
      if (existingId === undefined && monthly === undefined)
        throw new UsageError([`--monthly is required to create a budget, and no budget is named "${name}"`]);
      const body = {
        name,
        monthlyCHC: monthly,
        thresholds: threshold && [...new Set(threshold)],
        webhook: webhook === undefined ? undefined : webhook === 'none' ? null : { url: webhook },
      };
      const options = { name: '<name>', monthlyCHC: 'monthly', thresholds: 'threshold', webhook: 'webhook' };
      const record = await (existingId === undefined
        ? api.call<Budget>('/budgets', { method: 'POST', body, options })
        : api.call<Budget>(`/budgets/${existingId}`, { method: 'PATCH', body, options }));
      const verb = existingId === undefined ? 'Created' : 'Updated';
      const notes = [`${verb} budget ${name}: ${record.monthlyCHC} CHC per month.`];
      const secret = record.webhook?.secret;
      if (secret === undefined) return { json: record, notes };
      return { json: record, notes: [...notes, 'The webhook secret is shown only once.'], lines: [secret] };
    }),
});

const deleteBudget = defineCommand({
  name: 'budget delete',
  summary: 'Delete a budget',
  settings: API_SETTINGS,
  arguments: { budget: argument('<id or name>', 'Id or name of the budget') },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { budget } }) =>
    withApi(async (api) => {
      const id = isUuid(budget) ? budget.toLowerCase() : await findBudgetId(api, budget);
      if (id === undefined) throw new AppError('not_found', `budget ${budget} does not exist`);
      await api.call(`/budgets/${id}`, { method: 'DELETE' });
      return { json: { id }, lines: [`Deleted budget ${budget}.`] };
    }),
});

export const budgetCommands = [listBudgets, setBudget, deleteBudget];

/** "75 delivered", "90 pending, 6 attempts: …". */
function formatNotice({ threshold, delivery, attempts, lastError }: Budget['notices'][number]): string {
  if (delivery === 'none') return String(threshold);
  if (lastError === undefined) return `${threshold} ${delivery}`;
  return `${threshold} ${delivery}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${lastError}`;
}

/** Names need not be unique; an ambiguous name is an error. */
async function findBudgetId(api: Api, name: string): Promise<string | undefined> {
  const found = (await api.list<Budget>('/budgets')).filter((budget) => budget.name === name);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new UsageError([`${found.length} budgets are named "${name}": ${ids}`]);
  }
  return found[0]?.id;
}
