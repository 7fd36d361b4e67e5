import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { LeaseSession } from '../../platform/leases/session.ts';
import { type LoadSample, toMinute } from './load.ts';
import type { LoadHistory } from './load-history.ts';

/** An hour of one service while the store cannot be written. Older samples are dropped. */
const MAX_PENDING = 60;

/** Samples of one service. */
interface RecordedLoad {
  organizationId: string;
  serviceId: string;
  name: string;
  samples: LoadSample[];
}

interface Options {
  loadHistory: LoadHistory;
  /** Called after samples were stored. */
  onRecorded?(loads: readonly RecordedLoad[]): Promise<void>;
  /** Of the store. */
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Under which the load of a service is stored. Undefined: another process is responsible for it. */
  findSession(serviceId: string): LeaseSession | undefined;
}

interface Pending {
  session: LeaseSession;
  organizationId: string;
  name: string;
  samples: LoadSample[];
  /** The counter of the driver, which starts again with the service. */
  outOfMemory: number | undefined;
}

/** Turns the observations of services into one sample per minute, and stores those of all services once a minute. */
export function createLoadRecorder({ loadHistory, onRecorded, clock, log, findSession }: Options) {
  const services = new Map<string, Pending>();

  async function flush(): Promise<void> {
    const failures: unknown[] = [];
    for (const session of new Set([...services.values()].map((pending) => pending.session)))
      await store(session).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async function store(session: LeaseSession): Promise<void> {
    // Another process records the load of these services.
    if (!session.isHeld()) for (const [id, pending] of services) if (pending.session === session) services.delete(id);
    const batch = [...services]
      .filter(([, pending]) => pending.session === session && pending.samples.length > 0)
      .map(([serviceId, { organizationId, name, samples }]) => ({
        organizationId,
        serviceId,
        name,
        samples: [...samples],
      }));
    if (batch.length > 0) await loadHistory.recordSamples(session.state, batch);
    for (const { serviceId, samples } of batch) services.get(serviceId)?.samples.splice(0, samples.length);
    if (batch.length > 0) await onRecorded?.(batch);
  }

  const loop = createBackgroundLoop({
    run: flush,
    everyMs: MINUTE_MS,
    onError: (error) => log.warn({ err: error }, 'failed to store the load of services'),
  });

  return {
    start: loop.start,
    flush: loop.trigger,

    /** `queries`: how many ran at the same time since the last observation, at most. */
    observed({ id, organizationId, name }: Readonly<Service>, observed: Observed, queries?: number): void {
      const { memoryGb, replicas, shards = 1 } = observed;
      const session = findSession(id);
      if (memoryGb === undefined || replicas === undefined || !session) return;
      const known = services.get(id);
      const isKnown = known?.session === session;
      const pending = isKnown ? known : { session, organizationId, name, samples: [], outOfMemory: undefined };
      pending.name = name;
      services.set(id, pending);
      const { cpuCores, memoryBytes, outOfMemory } = observed.load ?? {};
      const failures = countFailures(pending.outOfMemory, outOfMemory);
      pending.outOfMemory = outOfMemory ?? pending.outOfMemory;
      const sample: LoadSample = {
        at: clock.now(),
        memoryGb,
        replicas,
        ...(shards > 1 && { shards }),
        state: observed.state,
        ...(cpuCores !== undefined && { cpuCores }),
        ...(memoryBytes !== undefined && { memoryBytes }),
        ...(queries !== undefined && { queries }),
        ...(failures > 0 && { outOfMemory: failures }),
      };
      const last = pending.samples.at(-1);
      if (last && toMinute(last.at) === toMinute(sample.at)) pending.samples.pop();
      pending.samples.push(last && toMinute(last.at) === toMinute(sample.at) ? combine(last, sample) : sample);
      if (pending.samples.length > MAX_PENDING) pending.samples.shift();
    },

    /** Forgets a service that this process is no longer responsible for; its last samples are stored before. */
    async released(id: string): Promise<void> {
      await loop.trigger();
      services.delete(id);
    },

    async close(): Promise<void> {
      await loop.trigger();
      await loop.close();
    },
  };
}

/** The first observation counts nothing: failures before it are not of this minute. */
const countFailures = (before: number | undefined, after: number | undefined): number =>
  before === undefined || after === undefined ? 0 : after >= before ? after - before : after;

/** Two observations of one minute: the higher load, and the later size. */
function combine(first: LoadSample, second: LoadSample): LoadSample {
  const highest = (name: 'cpuCores' | 'memoryBytes' | 'queries') => {
    const [a, b] = [first[name], second[name]];
    return a === undefined && b === undefined ? undefined : { [name]: Math.max(a ?? 0, b ?? 0) };
  };
  const outOfMemory = (first.outOfMemory ?? 0) + (second.outOfMemory ?? 0);
  return {
    ...second,
    ...highest('cpuCores'),
    ...highest('memoryBytes'),
    ...highest('queries'),
    ...(outOfMemory > 0 && { outOfMemory }),
  };
}
