import { AppError } from '../../kernel/errors.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { findLockedLease, type Lease } from './store.ts';

declare const fenced: unique symbol;

/**
 * A store that is changed only while this process holds a lease: each transaction checks the token of the lease first, and
 * no other process takes the lease before it ends. Work under a lease gets nothing else to write with.
 */
export interface LeasedState extends Pick<State, 'kind' | 'db' | 'write' | 'now' | 'clock'> {
  readonly [fenced]: true;
}

/** The time between getting a lease and losing it. */
export interface LeaseSession {
  readonly state: LeasedState;
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal;
  isHeld(): boolean;
  /** Whether this process holds the lease now. Asks the store if the lease may have expired: the process was suspended. */
  confirm(): Promise<boolean>;
}

/** The transaction of a process that does not hold the lease any more. Nothing of it is stored. */
export class LeaseLost extends AppError {
  constructor(name: string) {
    super('unavailable', `This node does not hold the lease ${name} any more`, { retryAfterSeconds: 5 });
  }
}

/** Throws `LeaseLost` unless the lease is still the one that was acquired; it stays so until the transaction ends. */
export async function requireLease(tx: Db, { name, holder, token }: Pick<Lease, 'name' | 'holder' | 'token'>) {
  const current = await findLockedLease(tx, name);
  if (current?.holder !== holder || current.token !== token) throw new LeaseLost(name);
}

/** Adds a check to each transaction of a store. `onLost` is called with those that it refuses. */
export function fence(state: State, check: (tx: Db) => Promise<void>, onLost: () => void = () => {}): LeasedState {
  const write: State['write'] = async (work, row) => {
    try {
      return await state.write(async (tx) => {
        // Before any other lock: transactions of several nodes take them in the same order.
        await check(tx);
        return work(tx);
      }, row);
    } catch (error) {
      if (error instanceof LeaseLost) onLost();
      throw error;
    }
  };
  const { kind, db, now, clock } = state;
  return { kind, db, now, clock, write } as LeasedState;
}
