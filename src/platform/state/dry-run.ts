import type { State } from './state.ts';
import type { Db } from './tables.ts';

export interface DryRunOption {
  /** Return the result of the change without storing it. */
  dryRun?: boolean;
}

/** Thrown to roll back the transaction; carries its result. */
class DryRun extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('Dry run');
    this.result = result;
  }
}

/** Like `state.write`. A dry run does the same work and checks, then rolls the transaction back. */
export async function writeUnlessDryRun<T>(
  state: State,
  { dryRun = false }: DryRunOption,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  try {
    return await state.write(async (tx) => {
      const result = await work(tx);
      if (dryRun) throw new DryRun(result);
      return result;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result as T;
    throw error;
  }
}
