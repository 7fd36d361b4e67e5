import { open, seal } from '../../../platform/state/secrets/sealed-columns.ts';
import type { BudgetNoticeRow, BudgetRow } from '../../../platform/state/tables/billing-tables.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Webhook } from '../../../platform/webhooks/webhook.ts';
import type { AlertKey, Budget, BudgetAlert, Threshold } from './budget.ts';

const toBudget = (db: Db, row: BudgetRow): Budget => {
  const budget = JSON.parse(open(db, 'budgets', row, row.document)) as Budget;
  return { ...budget, webhook: budget.webhook ?? undefined, channelIds: budget.channelIds ?? [] };
};

const toAlert = (row: BudgetNoticeRow): BudgetAlert => ({
  organizationId: row.organization_id,
  budgetId: row.budget_id,
  month: row.month,
  threshold: row.threshold === 'forecast' ? 'forecast' : Number(row.threshold),
  createdAt: row.created_at,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at ?? undefined,
  ...(JSON.parse(row.document) as Pick<BudgetAlert, 'deliveryId' | 'delivery' | 'lastAttemptAt' | 'lastError'>),
});

/** The budgets of all organizations. */
export async function listAllBudgets(db: Db): Promise<Budget[]> {
  const rows = await db.selectFrom('budgets').selectAll().orderBy('organization_id').execute();
  return rows.map((row) => toBudget(db, row));
}

/** Oldest first. */
export async function listBudgets(db: Db, organizationId: string): Promise<Budget[]> {
  const rows = await db.selectFrom('budgets').selectAll().where('organization_id', '=', organizationId).execute();
  const sortKey = ({ createdAt, id }: Budget) => `${String(createdAt).padStart(16, '0')} ${id}`;
  return rows.map((row) => toBudget(db, row)).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

export async function findBudget(db: Db, organizationId: string, id: string): Promise<Budget | undefined> {
  const row = await db
    .selectFrom('budgets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toBudget(db, row);
}

/** For the queue of notifications. */
export async function findBudgetWebhook(
  db: Db,
  organizationId: string,
  { id }: { id: string },
): Promise<Webhook | undefined> {
  return (await findBudget(db, organizationId, id))?.webhook;
}

/** The budgets that send alerts to a channel, as messages name them. */
export async function listBudgetsUsingChannel(db: Db, organizationId: string, channelId: string): Promise<string[]> {
  const budgets = await listBudgets(db, organizationId);
  return budgets.filter(({ channelIds }) => channelIds.includes(channelId)).map(({ name }) => `budget ${name}`);
}

export async function putBudget(tx: Db, budget: Budget): Promise<void> {
  const key = { organization_id: budget.organizationId, id: budget.id };
  const row = { ...key, document: seal(tx, 'budgets', key, JSON.stringify(budget)) };
  await tx
    .insertInto('budgets')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet({ document: row.document }))
    .execute();
}

/** Deletes the alerts of the budget too. */
export async function deleteBudget(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('budget_notices')
    .where('organization_id', '=', organizationId)
    .where('budget_id', '=', id)
    .execute();
  await tx.deleteFrom('budgets').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** The alerts of all budgets of an organization in one month. */
export async function listAlerts(db: Db, organizationId: string, month: string): Promise<BudgetAlert[]> {
  const rows = await db
    .selectFrom('budget_notices')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('month', '=', month)
    .execute();
  return rows.map(toAlert).sort((a, b) => a.createdAt - b.createdAt || compareThresholds(a.threshold, b.threshold));
}

/** An alert of before there was one queue for all notifications, which is still to be delivered. */
export type UnqueuedAlert = BudgetAlert & { body: string; nextAttemptAt: number };

/** Of all organizations. */
export async function listUnqueuedAlerts(db: Db, limit: number): Promise<UnqueuedAlert[]> {
  const rows = await db
    .selectFrom('budget_notices')
    .selectAll()
    .where('next_attempt_at', 'is not', null)
    .limit(limit)
    .execute();
  return rows.map((row) => ({ body: '', ...toAlert(row), nextAttemptAt: row.next_attempt_at ?? 0 }));
}

export async function markAsQueued(tx: Db, key: AlertKey): Promise<void> {
  await tx
    .updateTable('budget_notices')
    .set({ next_attempt_at: null })
    .where('organization_id', '=', key.organizationId)
    .where('budget_id', '=', key.budgetId)
    .where('month', '=', key.month)
    .where('threshold', '=', String(key.threshold))
    .execute();
}

export async function findAlert(tx: Db, key: AlertKey): Promise<BudgetAlert | undefined> {
  const row = await tx
    .selectFrom('budget_notices')
    .selectAll()
    .where('organization_id', '=', key.organizationId)
    .where('budget_id', '=', key.budgetId)
    .where('month', '=', key.month)
    .where('threshold', '=', String(key.threshold))
    .executeTakeFirst();
  return row && toAlert(row);
}

/** The state of its delivery is that of its notification. */
export async function insertAlert(
  tx: Db,
  alert: AlertKey & Pick<BudgetAlert, 'createdAt' | 'deliveryId' | 'delivery'>,
): Promise<void> {
  await tx
    .insertInto('budget_notices')
    .values({
      organization_id: alert.organizationId,
      budget_id: alert.budgetId,
      month: alert.month,
      threshold: String(alert.threshold),
      created_at: alert.createdAt,
      attempts: 0,
      next_attempt_at: null,
      document: JSON.stringify({ deliveryId: alert.deliveryId, delivery: alert.delivery }),
    })
    .execute();
}

const compareThresholds = (a: Threshold, b: Threshold): number => rank(a) - rank(b);
const rank = (threshold: Threshold): number => (threshold === 'forecast' ? Number.POSITIVE_INFINITY : threshold);
