import { ExpressionError } from './expression-error.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 2_000;
export const MAX_LIST_VALUES = 1_000;

/** Limits the size of an expression, so that parsing and running it stays cheap. */
export interface Budget {
  /** Counts a node. */
  spend(at: number): void;
  /** Runs `inner` one level deeper. */
  nest<T>(at: number, inner: () => T): T;
}

export function createBudget(): Budget {
  let nodes = 0;
  let depth = 0;
  return {
    spend(at) {
      nodes += 1;
      if (nodes > MAX_NODES) throw new ExpressionError(`An expression has at most ${MAX_NODES} parts`, at);
    },
    nest(at, inner) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new ExpressionError(`An expression is at most ${MAX_DEPTH} levels deep`, at);
      const result = inner();
      depth -= 1;
      return result;
    },
  };
}
