import type { Page, PageRequest } from '../../kernel/page.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { checkRange } from '../../kernel/time/query-range.ts';
import type { Prices } from '../../management/billing/prices/prices.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { Service } from '../../management/services/service.ts';
import type { AutoscalerMode } from '../../management/services/service-settings.ts';
import type { Services } from '../../management/services/services.ts';
import { getAutoscalerMode } from '../../management/services/settings/settings.ts';
import type { State } from '../../platform/state/state.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { chooseStepMinutes, createHistoryPoints, createHourlyCost, type HistoryPoint } from './history-points.ts';
import { HISTORY_MINUTES } from './load.ts';
import type { LoadHistory } from './load-history.ts';
import type { StoredDecision } from './recorded-decision.ts';
import { getSizeLimits, getSizes } from './sizes.ts';
import { findLastDecision, listDecisionPage, listDecisionsBetween, listSamplesByHour } from './store.ts';

export type Autoscaling = ReturnType<typeof createAutoscaling>;

const MAX_HISTORY_DAYS = 31;
const MAX_DECISIONS = 1000;

export interface AutoscalingStatus {
  mode: AutoscalerMode;
  /** The decision for the load so far, also if it is not to change anything; undefined with mode off. */
  recommendation: Decision | undefined;
}

export interface AutoscalingHistory {
  from: number;
  to: number;
  stepMinutes: number;
  points: HistoryPoint[];
  /** Oldest first; the newest if there are more than `MAX_DECISIONS`. */
  decisions: StoredDecision[];
}

interface Options {
  state: State;
  clock: Clock;
  organizations: Organizations;
  services: Services;
  prices: Prices;
  loadHistory: LoadHistory;
}

/** What users see of the autoscaler: its decisions and the load that they are based on. */
export function createAutoscaling({ state, clock, organizations, services, prices, loadHistory }: Options) {
  return {
    /** Computed from the stored load, so that every node gives the same answer. */
    async getStatus(service: Readonly<Service>): Promise<AutoscalingStatus> {
      const mode = getAutoscalerMode(service);
      if (mode === 'off') return { mode, recommendation: undefined };
      const now = clock.now();
      const organization = await organizations.get(service.organizationId);
      const { limits } = getSizeLimits(service, organization, now);
      const history = await loadHistory.readHistory(service, now - HISTORY_MINUTES * MINUTE_MS, now + 1);
      const last = await findLastDecision(state.db, service.organizationId, service.id, { isApplied: true });
      const input = { ...getSizes(service, now), limits, lastChangeAt: last?.at };
      return { mode, recommendation: decide(history, input, now) };
    },

    /** Newest first. */
    async listDecisions(organizationId: string, id: string, page: PageRequest): Promise<Page<StoredDecision>> {
      await services.get(organizationId, id);
      return listDecisionPage(state.db, organizationId, id, page);
    },

    /** The last day if `from` is omitted. At most 31 days. */
    async getHistory(
      organizationId: string,
      id: string,
      { from: givenFrom, to = clock.now() }: { from?: number | undefined; to?: number | undefined },
    ): Promise<AutoscalingHistory> {
      const from = givenFrom ?? to - DAY_MS;
      checkRange(from, to, MAX_HISTORY_DAYS);
      const service = await services.get(organizationId, id);
      const [organization, books] = [await organizations.get(organizationId), await prices.list()];
      const stepMinutes = chooseStepMinutes(from, to);
      const { add, points } = createHistoryPoints(stepMinutes, createHourlyCost(books, organization, service));
      for (const samples of await listSamplesByHour(state.db, organizationId, id, from, to)) samples.forEach(add);
      const decisions = await listDecisionsBetween(state.db, organizationId, id, { from, to, limit: MAX_DECISIONS });
      return { from, to, stepMinutes, points, decisions };
    },
  };
}
