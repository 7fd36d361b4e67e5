import type { BudgetNoticeRow, BudgetRow, Db } from '../../state/tables.ts';
import type { Budget, Notice, Threshold } from './budget.ts';

const toBudget = ({ document }: Pick<BudgetRow, 'document'>): Budget => {
  const budget = JSON.parse(document) as Budget;
  return { ...budget, webhook: budget.webhook ?? undefined };
};

const toNotice = (row: BudgetNoticeRow): Notice => ({
  organizationId: row.organization_id,
  budgetId: row.budget_id,
  month: row.month,
  threshold: row.threshold === 'forecast' ? 'forecast' : Number(row.threshold),
  createdAt: row.created_at,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at ?? undefined,
  ...(JSON.parse(row.document) as Pick<Notice, 'deliveryId' | 'body' | 'delivery'>),
});

/** Of every organization: whoever watches over budgets watches over all of them. */
export async function listAllBudgets(db: Db): Promise<Budget[]> {
  return (await db.selectFrom('budgets').select('document').orderBy('organization_id').execute()).map(toBudget);
}

/** In the order in which they were made. */
export async function listBudgets(db: Db, organizationId: string): Promise<Budget[]> {
  const rows = await db
    .selectFrom('budgets')
    .select('document')
    .where('organization_id', '=', organizationId)
    .execute();
  const place = ({ createdAt, id }: Budget) => `${String(createdAt).padStart(16, '0')} ${id}`;
  return rows.map(toBudget).sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

export async function findBudget(db: Db, organizationId: string, id: string): Promise<Budget | undefined> {
  const row = await db
    .selectFrom('budgets')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toBudget(row);
}

export async function putBudget(tx: Db, budget: Budget): Promise<void> {
  const row = { organization_id: budget.organizationId, id: budget.id, document: JSON.stringify(budget) };
  await tx
    .insertInto('budgets')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet({ document: row.document }))
    .execute();
}

/** With what it has told. */
export async function deleteBudget(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('budget_notices')
    .where('organization_id', '=', organizationId)
    .where('budget_id', '=', id)
    .execute();
  await tx.deleteFrom('budgets').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** Of one month; of all budgets of the organization. */
export async function listNotices(db: Db, organizationId: string, month: string): Promise<Notice[]> {
  const rows = await db
    .selectFrom('budget_notices')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('month', '=', month)
    .execute();
  return rows.map(toNotice).sort((a, b) => a.createdAt - b.createdAt || byThreshold(a.threshold, b.threshold));
}

/** Those whose delivery is due, oldest first, of every organization. */
export async function listDueNotices(db: Db, now: number, limit: number): Promise<Notice[]> {
  const rows = await db
    .selectFrom('budget_notices')
    .selectAll()
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(limit)
    .execute();
  return rows.map(toNotice);
}

export async function findNotice(tx: Db, notice: NoticeKey): Promise<Notice | undefined> {
  const row = await tx
    .selectFrom('budget_notices')
    .selectAll()
    .where('organization_id', '=', notice.organizationId)
    .where('budget_id', '=', notice.budgetId)
    .where('month', '=', notice.month)
    .where('threshold', '=', String(notice.threshold))
    .executeTakeFirst();
  return row && toNotice(row);
}

export type NoticeKey = Pick<Notice, 'organizationId' | 'budgetId' | 'month' | 'threshold'>;

export async function putNotice(tx: Db, notice: Notice): Promise<void> {
  const { deliveryId, body, delivery } = notice;
  const changing = {
    attempts: notice.attempts,
    next_attempt_at: notice.nextAttemptAt ?? null,
    document: JSON.stringify({ deliveryId, body, delivery }),
  };
  await tx
    .insertInto('budget_notices')
    .values({
      organization_id: notice.organizationId,
      budget_id: notice.budgetId,
      month: notice.month,
      threshold: String(notice.threshold),
      created_at: notice.createdAt,
      ...changing,
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'budget_id', 'month', 'threshold']).doUpdateSet(changing),
    )
    .execute();
}

const byThreshold = (a: Threshold, b: Threshold): number => rank(a) - rank(b);
const rank = (threshold: Threshold): number => (threshold === 'forecast' ? Number.POSITIVE_INFINITY : threshold);
