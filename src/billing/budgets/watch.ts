import type { Logger } from 'pino';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import { type Clock, isoTime } from '../../kernel/clock.ts';
import { listDaysBetween, toUtcDay } from '../../kernel/days.ts';
import { deriveUuid } from '../../kernel/ids.ts';
import { chcFromMicros } from '../../kernel/money.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import type { Forecasts } from '../forecast/forecasts.ts';
import { added, type Summaries, sumOf } from '../reports/summaries.ts';
import { type Budget, type Notice, reached, type Threshold } from './budget.ts';
import { findBudget, findNotice, listAllBudgets, listNotices, putNotice } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  summaries: Summaries;
  forecasts: Forecasts;
  log: Pick<Logger, 'warn'>;
}

/** How far a month has come. */
interface Progress {
  month: string;
  spent: number;
  expected: number | undefined;
}

const WATCH: Actor = { type: 'system', id: 'budgets', details: 'pilothouse budgets' };

/** Looks whether budgets have reached their thresholds, and writes down what is to be told. */
export function createWatch({ state, clock, audit, organizations, summaries, forecasts, log }: Options) {
  /** What an organization looked like when it was last looked at: nothing new, nothing to do. */
  const seen = new Map<string, string>();

  async function look(organizationId: string, budgets: readonly Budget[]): Promise<void> {
    const { costRevision } = await organizations.get(organizationId);
    const today = toUtcDay(clock.now());
    const looks = JSON.stringify([
      costRevision,
      today,
      budgets.map(({ id, monthlyMicros, thresholds }) => [id, monthlyMicros, thresholds]),
    ]);
    if (seen.get(organizationId) === looks) return;
    const month = today.slice(0, 7);
    const told = await listNotices(state.db, organizationId, month);
    const isTold = (budget: Budget, threshold: Threshold) =>
      told.some((notice) => notice.budgetId === budget.id && notice.threshold === threshold);
    const untold = budgets
      .map((budget) => ({ ...budget, thresholds: budget.thresholds.filter((one) => !isTold(budget, one)) }))
      .filter(({ thresholds }) => thresholds.length > 0);
    if (untold.length > 0) {
      const days = await summaries.perDay(organizationId, listDaysBetween(`${month}-01`, today));
      const wantsForecast = untold.some(({ thresholds }) => thresholds.includes('forecast'));
      const progress: Progress = {
        month,
        spent: sumOf(added(days)),
        expected: wantsForecast ? (await forecasts.of(organizationId)).expected : undefined,
      };
      for (const budget of untold)
        for (const threshold of reached(budget, progress.spent, progress.expected))
          await tell(budget, threshold, progress);
    }
    seen.set(organizationId, looks);
  }

  /** The notice and its activity, or neither; once, however many nodes look. */
  async function tell({ organizationId, id }: Budget, threshold: Threshold, progress: Progress): Promise<void> {
    await state.write(async (tx) => {
      await organizations.take(tx, organizationId);
      const budget = await findBudget(tx, organizationId, id);
      const key = { organizationId, budgetId: id, month: progress.month, threshold };
      if (!budget || (await findNotice(tx, key))) return;
      if (!reached(budget, progress.spent, progress.expected).includes(threshold)) return;
      const createdAt = clock.now();
      const deliveryId = deriveUuid('budget notice', organizationId, id, progress.month, String(threshold));
      const facts = factsOf(budget, threshold, progress);
      const notice: Notice = {
        ...key,
        createdAt,
        attempts: 0,
        nextAttemptAt: budget.webhook && createdAt,
        deliveryId,
        body: JSON.stringify({
          id: deliveryId,
          type: 'budget_threshold',
          createdAt: isoTime(createdAt),
          organizationId,
          budgetId: id,
          ...facts,
        }),
        delivery: budget.webhook ? 'pending' : 'none',
      };
      await putNotice(tx, notice);
      await audit.record(tx, WATCH, {
        organizationId,
        type: 'budget_threshold',
        resource: { type: 'budget', id },
        after: facts,
      });
    });
  }

  return {
    async run(): Promise<void> {
      const byOrganization = new Map<string, Budget[]>();
      for (const budget of await listAllBudgets(state.db)) {
        const own = byOrganization.get(budget.organizationId) ?? [];
        byOrganization.set(budget.organizationId, [...own, budget]);
      }
      for (const [organizationId, budgets] of byOrganization) {
        try {
          await look(organizationId, budgets);
        } catch (error) {
          // The others are looked at all the same, and this one again the next time.
          log.warn({ organizationId, err: error }, 'could not look at the budgets of an organization');
        }
      }
    },
  };
}

function factsOf({ name, monthlyMicros }: Budget, threshold: Threshold, { month, spent, expected }: Progress) {
  return {
    name,
    month,
    threshold,
    monthlyCHC: chcFromMicros(monthlyMicros),
    spentCHC: chcFromMicros(spent),
    ...(expected === undefined ? {} : { expectedCHC: chcFromMicros(expected) }),
  };
}
