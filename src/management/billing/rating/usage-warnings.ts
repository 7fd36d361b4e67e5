import type { Logger } from 'pino';
import type { State } from '../../../platform/state/state.ts';
import { describeMismatch, REMEDY } from '../metering/engine-binding.ts';
import type { EngineOwner } from '../metering/engine-owner.ts';
import { countMismatchedDays, type MismatchedDays } from './mismatch-store.ts';

interface Options {
  state: State;
  owner: EngineOwner;
  log: Pick<Logger, 'info' | 'warn'>;
}

export const WARNING_CODES = ['engine_mismatch', 'clock_unconfirmed', 'engine_owned_by_other'] as const;

/** A state that needs an operator. Nothing is lost while it lasts, but costs are not complete or days not locked. */
export interface UsageWarning {
  code: (typeof WARNING_CODES)[number];
  message: string;
  remedy: string;
}

export type UsageWarnings = ReturnType<typeof createUsageWarnings>;

/** Reports days that are not rated or not locked: to the log, `/readyz`, the metrics and the console. */
export function createUsageWarnings({ state, owner, log }: Options) {
  let unconfirmedDays = 0;
  let mismatchedDays = 0;
  let reported = '';

  /** All organizations if `organizationId` is omitted. */
  async function list(organizationId?: string): Promise<UsageWarning[]> {
    const warnings = (await countMismatchedDays(state.db, organizationId)).map(toMismatchWarning);
    if (unconfirmedDays > 0) warnings.push(toClockWarning(unconfirmedDays));
    if (!owner.isOwner()) warnings.push(OWNED_BY_OTHER);
    return warnings;
  }

  return {
    list,

    /** Logs one line when a warning appears or changes, not with every pass. */
    async report(): Promise<void> {
      mismatchedDays = (await countMismatchedDays(state.db)).reduce((sum, { days }) => sum + days, 0);
      const warnings = await list();
      const text = JSON.stringify(warnings);
      if (text === reported || (warnings.length === 0 && reported === '')) return;
      reported = warnings.length === 0 ? '' : text;
      for (const { code, message, remedy } of warnings) log.warn({ code, remedy }, message);
      if (warnings.length === 0) log.info({}, 'all days are rated and locked normally again');
    },

    setUnconfirmedDays(days: number): void {
      unconfirmedDays = days;
    },

    /** For the metrics, as of the last pass. */
    counts: () => ({ mismatchedDays, unconfirmedDays, isEngineOwner: owner.isOwner() }),
  };
}

export function toMismatchWarning({ mismatch, days, organizations, from, to }: MismatchedDays): UsageWarning {
  const affected = days === 1 ? `1 day (${from}) is` : `${days} days (${from} to ${to}) are`;
  const scope = organizations > 1 ? ` in ${organizations} organizations` : '';
  return {
    code: 'engine_mismatch',
    message: `${affected} not rated${scope}, because ${describeMismatch(mismatch)}; the ledger is unchanged`,
    remedy: REMEDY,
  };
}

export function toClockWarning(days: number): UsageWarning {
  return {
    code: 'clock_unconfirmed',
    message: `${days === 1 ? '1 day is' : `${days} days are`} not locked, because the clock of the store jumped by more than an hour, or no server ran for that long`,
    remedy: 'check the clock, then run pilothouse usage confirm-clock',
  };
}

const OWNED_BY_OTHER: UsageWarning = {
  code: 'engine_owned_by_other',
  message: 'This node does not accept or rate usage, because another node owns the embedded engine',
  remedy: 'stop one of the two nodes, or give all nodes the same --clickhouse-url',
};
