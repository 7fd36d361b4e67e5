import type { Decision } from './decision.ts';
import { isSameSize } from './sizes.ts';

/** A decision of the list: a change of the size, or a recommendation. */
export interface StoredDecision extends Decision {
  id: string;
  /** False for a recommendation. */
  isApplied: boolean;
}

/** Whether a recommendation repeats the last decision, so that it is not stored again. */
export const isRepetition = (decision: Decision, last: StoredDecision | undefined): boolean =>
  last !== undefined && !last.isApplied && isSameSize(last.from, decision.from) && isSameSize(last.to, decision.to);
