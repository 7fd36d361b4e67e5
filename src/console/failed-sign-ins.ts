import type { Logger } from 'pino';
import { addressBlock } from '../kernel/access/addresses.ts';
import { createLargeCache } from '../kernel/memo.ts';
import { createBackgroundLoop } from '../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS } from '../kernel/time/clock.ts';
import type { Actor } from '../management/audit/activity.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { State } from '../platform/state/state.ts';
import type { SessionKind } from './session.ts';

/** Where a sign-in or sign-out came from. */
export type Origin = Pick<Actor, 'address' | 'userAgent' | 'requestId'>;

/** Why a sign-in was rejected, as the audit log names it. */
export type FailureReason = 'secret not valid' | 'not active' | 'address not allowed';

interface FailedSignIn {
  kind: SessionKind;
  /** Of the key id, or of the token: the text itself is not kept. */
  credentialHash: string;
  reason: FailureReason;
  origin: Origin;
}

interface NamedCredential {
  organizationId: string;
  id: string;
  name: string;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  log: Pick<Logger, 'warn'>;
  /** Undefined if the key id or token is unknown: then there is no organization to record it in. */
  findCredential(kind: SessionKind, credentialHash: string): Promise<NamedCredential | undefined>;
}

const RECORD_AFTER_MS = 250;
const MAX_PENDING = 1000;
const MAX_RECENT = 10_000;

export type FailedSignIns = ReturnType<typeof createFailedSignIns>;

/**
 * Records failed sign-ins in the audit log: at most one per address, credential and minute. No response waits for it, so
 * its time does not reveal whether a key id exists. A crash loses at most the last 250 ms.
 */
export function createFailedSignIns({ state, clock, audit, log, findCredential }: Options) {
  const recent = createLargeCache<string, number>(MAX_RECENT);
  let pending: FailedSignIn[] = [];
  let dropped = 0;

  const recording = createBackgroundLoop({
    run: recordPending,
    onError: (error) => log.warn({ err: error }, 'failed to record failed sign-ins in the audit log'),
  });

  async function recordPending(): Promise<void> {
    const batch = pending;
    pending = [];
    if (dropped > 0) log.warn({ dropped }, 'too many failed sign-ins: some are not in the audit log');
    dropped = 0;
    for (const { kind, credentialHash, reason, origin } of batch) {
      const credential = await findCredential(kind, credentialHash);
      if (!credential) continue;
      const { organizationId, id, name } = credential;
      await state.write((tx) =>
        audit.record(
          tx,
          { type: 'system', id: 'console', details: 'Console', ...origin },
          {
            organizationId,
            type: 'console_sign_in_failed',
            resource: { type: 'session', id },
            after: { name, credential: kind, reason },
          },
        ),
      );
    }
  }

  return {
    record(failure: FailedSignIn): void {
      const minute = Math.floor(clock.now() / MINUTE_MS);
      const id = `${addressBlock(failure.origin.address ?? '')} ${failure.credentialHash}`;
      if (recent.get(id) === minute) return;
      recent.set(id, minute);
      if (pending.length >= MAX_PENDING) {
        dropped++;
        return;
      }
      pending.push(failure);
      if (!recording.isScheduled()) recording.schedule(RECORD_AFTER_MS);
    },

    /** Records everything so far. */
    async close(): Promise<void> {
      await recording.trigger();
      await recording.close();
    },
  };
}
