import { fence, type LeaseSession } from '../../src/platform/leases/session.ts';
import type { State } from '../../src/platform/state/state.ts';

/** A session that the test ends, without a lease: what it writes is always stored. */
export function createTestSession(state: State, isHeld: () => boolean = () => true): LeaseSession {
  const { signal } = new AbortController();
  return { state: fence(state, async () => {}), signal, isHeld, confirm: async () => isHeld() };
}
