import { createLease } from '../../../platform/leases/lease.ts';
import type { State } from '../../../platform/state/state.ts';
import { type EvaluationOptions, startEvaluation } from './evaluation-pass.ts';

interface Options extends EvaluationOptions {
  state: State;
}

/** Evaluates alerts in the process that holds the lease. */
export function createEvaluator({ state, ...options }: Options) {
  const { log } = options;
  const lease = createLease({ state, clock: state.clock, log, name: 'alerts' });
  const work = lease.run((session) => startEvaluation(session, options));
  let started: Promise<void> | undefined;

  return {
    start(): void {
      started = lease
        .start()
        .catch((error: Error) => log.warn({ reason: error.message }, 'failed to take the lease of alerts'));
    },
    /** Evaluates what is due now, if this process evaluates. */
    async trigger(): Promise<void> {
      await started;
      await work.current()?.trigger();
    },
    /** Whether this process has the lease. */
    isEvaluating: lease.isHeld,
    /** Soon, if this process evaluates. */
    request(): void {
      void work.current()?.trigger();
    },
    close: lease.close,
  };
}
