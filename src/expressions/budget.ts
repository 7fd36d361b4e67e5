import { ExpressionError } from './expression-error.ts';

const DEEPEST = 64;
const MOST_NODES = 2_000;
export const LONGEST_LIST = 1_000;

/** Bounds what one text may ask for, so that reading, writing and running it stay cheap. */
export interface Budget {
  /** One more node. */
  spend(at: number): void;
  /** Runs what is nested one level deeper. */
  nest<T>(at: number, inner: () => T): T;
}

export function createBudget(): Budget {
  let nodes = 0;
  let depth = 0;
  return {
    spend(at) {
      nodes += 1;
      if (nodes > MOST_NODES) throw new ExpressionError(`An expression has at most ${MOST_NODES} parts`, at);
    },
    nest(at, inner) {
      depth += 1;
      if (depth > DEEPEST) throw new ExpressionError(`An expression is at most ${DEEPEST} levels deep`, at);
      const result = inner();
      depth -= 1;
      return result;
    },
  };
}
