import type { Logger } from 'pino';
import { type Actor, difference } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import { newWebhookSecret } from '../../credentials/secrets.ts';
import { type Clock, SECOND_MS } from '../../kernel/clock.ts';
import { toUtcDay } from '../../kernel/days.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { chcFromMicros, MICROS_PER_CHC } from '../../kernel/money.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import type { Db } from '../../state/tables.ts';
import type { Forecasts } from '../forecast/forecasts.ts';
import type { Summaries } from '../reports/summaries.ts';
import {
  type Budget,
  DEFAULT_THRESHOLDS,
  type Notice,
  type Threshold,
  type Webhook,
  webhookMistake,
} from './budget.ts';
import { createDeliveries } from './deliveries.ts';
import { deleteBudget, findBudget, listBudgets, listNotices, putBudget } from './store.ts';
import { createWatch } from './watch.ts';
import { createPost } from './webhook.ts';

export type Budgets = ReturnType<typeof createBudgets>;

/** The members a budget can be given. Of a webhook that keeps its secret only the address is needed. */
export interface BudgetSettings {
  name?: string | undefined;
  monthlyCHC?: number | undefined;
  thresholds?: readonly Threshold[] | undefined;
  /** null: none. */
  webhook?: { url: string; secret?: string | undefined } | null | undefined;
}

/** A budget, what it has told this month, and its secret where that was made just now. */
export interface ShownBudget {
  budget: Budget;
  notices: readonly Notice[];
  newSecret?: string;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  summaries: Summaries;
  forecasts: Forecasts;
  log: Pick<Logger, 'warn'>;
  /** May webhooks lead to this machine and the networks around it? */
  allowPrivate: boolean;
}

const MAX_BUDGETS = 100;
const LOOK_EVERY_MS = 15 * SECOND_MS;

export function createBudgets(options: Options) {
  const { state, clock, audit, organizations, log, allowPrivate } = options;
  const watch = createWatch(options);
  const deliveries = createDeliveries({ ...options, post: createPost({ clock, allowPrivate }) });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isClosed = false;

  /** Looks at every budget and sends what is due. Called while it runs, it runs once more. */
  function evaluate(): Promise<void> {
    if (isClosed) return Promise.resolve();
    isAskedAgain = running !== undefined;
    running ??= (async () => {
      try {
        do {
          isAskedAgain = false;
          await watch.run();
          await deliveries.run();
        } while (isAskedAgain && !isClosed);
      } catch (error) {
        log.warn({ err: error }, 'could not look at budgets');
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  /** Where somebody looks anyway; a command leaves it to the server. */
  const soon = (): void => void (timer && evaluate());

  async function get(db: Db, organizationId: string, id: string): Promise<Budget> {
    const budget = await findBudget(db, organizationId, id);
    if (!budget) throw new AppError('not_found', `budget ${id} does not exist`);
    return budget;
  }

  async function shown(budgets: readonly Budget[], organizationId: string): Promise<ShownBudget[]> {
    const notices = await listNotices(state.db, organizationId, toUtcDay(clock.now()).slice(0, 7));
    return budgets.map((budget) => ({ budget, notices: notices.filter(({ budgetId }) => budgetId === budget.id) }));
  }

  return {
    evaluate,

    /** Looks from now on, until `close`. */
    start(): void {
      timer ??= setInterval(evaluate, LOOK_EVERY_MS).unref();
      void evaluate();
    },

    /** Finishes what is under way; what is not sent yet is sent after the next start. */
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(timer);
      await running;
    },

    list: async (organizationId: string): Promise<ShownBudget[]> =>
      shown(await listBudgets(state.db, organizationId), organizationId),

    async get(organizationId: string, id: string): Promise<ShownBudget> {
      const budget = await get(state.db, organizationId, id);
      return (await shown([budget], organizationId))[0] ?? { budget, notices: [] };
    },

    async create(actor: Actor, organizationId: string, settings: BudgetSettings): Promise<ShownBudget> {
      const { webhook, newSecret } = webhookOf(settings.webhook, undefined);
      const now = clock.now();
      const budget: Budget = {
        id: newUuid(),
        organizationId,
        name: settings.name ?? 'Budget',
        monthlyMicros: monthlyMicros(settings.monthlyCHC ?? 0),
        thresholds: settings.thresholds ?? DEFAULT_THRESHOLDS,
        webhook,
        createdAt: now,
        updatedAt: now,
      };
      await state.write(async (tx) => {
        await organizations.take(tx, organizationId);
        if ((await listBudgets(tx, organizationId)).length >= MAX_BUDGETS)
          throw new AppError('conflict', `The organization has ${MAX_BUDGETS} budgets, which is the most it may have`);
        await putBudget(tx, budget);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_create',
          resource: { type: 'budget', id: budget.id },
          after: inTrail(budget),
        });
      });
      soon();
      return { budget, notices: [], ...(newSecret === undefined ? {} : { newSecret }) };
    },

    /** Members left out keep their value. What was told this month stays told. */
    async update(actor: Actor, organizationId: string, id: string, settings: BudgetSettings): Promise<ShownBudget> {
      const { budget, newSecret } = await state.write(async (tx) => {
        await organizations.take(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const made = webhookOf(settings.webhook, before.webhook);
        const after: Budget = {
          ...before,
          name: settings.name ?? before.name,
          monthlyMicros: settings.monthlyCHC === undefined ? before.monthlyMicros : monthlyMicros(settings.monthlyCHC),
          thresholds: settings.thresholds ?? before.thresholds,
          webhook: made.webhook,
          updatedAt: clock.now(),
        };
        const changed = difference(inTrail(before), inTrail(after));
        const isSame = before.webhook?.secret === after.webhook?.secret && before.webhook?.url === after.webhook?.url;
        if (isSame && Object.keys({ ...changed.before, ...changed.after }).length === 0)
          return { budget: before, newSecret: undefined };
        await putBudget(tx, after);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_update',
          resource: { type: 'budget', id },
          ...changed,
        });
        return { budget: after, newSecret: made.newSecret };
      });
      soon();
      const [seen] = await shown([budget], organizationId);
      return { budget, notices: seen?.notices ?? [], ...(newSecret === undefined ? {} : { newSecret }) };
    },

    /** With what it has told and has still to deliver. */
    async remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.take(tx, organizationId);
        const budget = await get(tx, organizationId, id);
        await deleteBudget(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_delete',
          resource: { type: 'budget', id },
          before: inTrail(budget),
        });
      });
    },
  };

  /** Left out: as it was. An address without a secret keeps the one there is, or gets a new one. */
  function webhookOf(given: BudgetSettings['webhook'], before: Webhook | undefined) {
    if (given === undefined) return { webhook: before };
    if (given === null) return { webhook: undefined };
    const mistake = webhookMistake(given.url, { allowPrivate });
    if (mistake !== undefined)
      rejectViolations([{ path: 'webhook.url', rule: mistake, value: given.url, secret: true }]);
    const kept = given.secret ?? before?.secret;
    if (kept !== undefined) return { webhook: { url: given.url, secret: kept } };
    const newSecret = newWebhookSecret();
    return { webhook: { url: given.url, secret: newSecret }, newSecret };
  }
}

const MAX_MONTHLY_CHC = 1_000_000_000;

function monthlyMicros(chc: number): number {
  const micros = Math.round(chc * MICROS_PER_CHC);
  if (!(micros > 0) || chc > MAX_MONTHLY_CHC || chcFromMicros(micros) !== chc) {
    const rule = `The value must be more than 0 and at most ${MAX_MONTHLY_CHC}, with at most 6 decimals`;
    rejectViolations([{ path: 'monthlyCHC', rule, value: chc }]);
  }
  return micros;
}

/** As the audit trail may hold it: of an address only where it leads, since the rest of it often is a secret. */
function inTrail({ name, monthlyMicros: micros, thresholds, webhook }: Budget) {
  return {
    name,
    monthlyCHC: chcFromMicros(micros),
    thresholds,
    webhook: webhook ? new URL(webhook.url).origin : null,
  };
}
