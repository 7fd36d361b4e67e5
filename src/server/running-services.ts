import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import type { State } from '../platform/state/state.ts';
import { createAutoscaler } from '../running/autoscaling/autoscaler.ts';
import { createLoadRecorder } from '../running/autoscaling/load-recorder.ts';
import { createReconciliation } from '../running/reconciliation/reconciliation.ts';
import type { Domains } from './domains.ts';
import { createDrivers } from './drivers.ts';
import type { Config } from './settings/config.ts';

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
