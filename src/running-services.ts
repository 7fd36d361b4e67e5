import type { Logger } from 'pino';
import { createAutoscaler } from './autoscaling/autoscaler.ts';
import { createLoadRecorder } from './autoscaling/load-recorder.ts';
import type { Config } from './config.ts';
import type { Domains } from './domains.ts';
import { createDrivers } from './drivers.ts';
import { readDirectoryName } from './engine/directory-id.ts';
import type { AttemptLimit } from './http/attempt-limit.ts';
import type { Clock } from './kernel/clock.ts';
import { createReconciliation } from './reconciliation/reconciliation.ts';
import type { State } from './state/state.ts';

interface Options {
  config: Config;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  state: State;
  domains: Domains;
  /** Shared with the API. */
  attempts: AttemptLimit;
  isDemo: boolean;
}

export type RunningServices = ReturnType<typeof createRunningServices>;

/** The services of this process with everything that works on them in the background. */
export function createRunningServices({ config, clock, log, state, domains, attempts, isDemo }: Options) {
  const { drivenServices, intake, loadHistory, organizations } = domains;
  const loads = createLoadRecorder({ loadHistory, clock, log });
  const reconciliation = createReconciliation({
    ...config,
    state,
    services: drivenServices,
    intake,
    clock,
    log,
    attempts,
    isLoopbackOnly: isDemo,
    directoryId: readDirectoryName(config.dataDirectory),
    createDrivers: (onChange) => createDrivers({ config, clock, log, onChange }),
    onObserved: loads.observed,
    onReleased: (serviceId) => void loads.released(serviceId),
  });
  const autoscaler = createAutoscaler({
    state,
    services: drivenServices,
    organizations,
    clock,
    log,
    isOwner: ({ id }) => reconciliation.isResponsible(id),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      await autoscaler.close();
      await reconciliation.close();
      await loads.close();
    })();
    return closing;
  };
  return {
    ...reconciliation,
    close,
    async start(): Promise<void> {
      await reconciliation.start();
      loads.start();
      autoscaler.start();
    },
  };
}
