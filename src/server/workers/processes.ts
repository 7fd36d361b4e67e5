import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Addresses } from '../requests.ts';
import { type Calls, openChannel, type Port, type Remote } from './channel.ts';
import { createProbes } from './probes.ts';

/** What the primary process needs of its workers, next to their own calls. */
interface Stoppable {
  stop(): void;
  /** Answers, which shows that the process is not hanging. */
  probe(): void;
}

/** What a worker tells the primary process, next to the calls of the application. */
export interface WorkerReports {
  ready(addresses: Addresses): void;
  /** The worker cannot start, and ends. */
  failed(reason: string): void;
}

interface Options<Local> {
  count: number;
  /** What workers may call. */
  calls: Local;
  clock: Pick<Clock, 'monotonicMs'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

const MAX_PAUSE_MS = 30 * SECOND_MS;
/** A worker that ran this long started successfully: it is replaced without a pause. */
const SETTLED_MS = MINUTE_MS;

/**
 * Runs this program `count` times; the processes share the ports that they listen on. A process that ends or hangs is replaced,
 * with a pause that doubles up to 30 seconds while new ones end early.
 */
export function createWorkers<Local extends Calls<Local>, Other extends Calls<Other> & Stoppable>({
  count,
  calls,
  clock,
  log,
}: Options<Local>) {
  const running = new Map<Worker, Remote<Other>>();
  /** Workers that listen. */
  const ready = new Set<Worker>();
  const hung = new Set<Worker>();
  const timers = new Set<NodeJS.Timeout>();
  let isClosing = false;
  let earlyEnds = 0;

  const probes = createProbes<Worker>({
    clock,
    listWorkers: () => ready,
    probe: async (worker) => (running.get(worker) as Remote<Stoppable> | undefined)?.probe(),
    onHung(worker) {
      if (isClosing) return;
      hung.add(worker);
      worker.process.kill('SIGKILL');
    },
  });

  /** Resolves once the worker listens. */
  function start(): Promise<Addresses> {
    const startedAt = clock.monotonicMs();
    // Other values than those of JSON: `undefined` in particular.
    cluster.setupPrimary({ serialization: 'advanced' });
    const worker = cluster.fork();
    return new Promise((resolve, reject) => {
      let failure: string | undefined;
      let isReady = false;
      const reports: WorkerReports = {
        ready(addresses) {
          isReady = true;
          ready.add(worker);
          resolve(addresses);
        },
        failed(reason) {
          failure = reason;
        },
      };
      running.set(worker, openChannel<Local & WorkerReports, Other>(toPort(worker), { ...calls, ...reports }));
      worker.once('exit', (code, signal) => {
        running.delete(worker);
        ready.delete(worker);
        const end = hung.delete(worker) ? 'did not respond and was ended' : 'ended';
        const reason = failure ?? `a worker process ${end} with ${signal ?? `exit code ${code}`}`;
        if (!isReady) reject(new AppError('conflict', reason));
        if (!isClosing && isReady) replace(reason, clock.monotonicMs() - startedAt);
      });
    });
  }

  function replace(reason: string, livedMs: number): void {
    earlyEnds = livedMs >= SETTLED_MS ? 0 : earlyEnds + 1;
    const waitMs = earlyEnds <= 1 ? 0 : Math.min(SECOND_MS * 2 ** (earlyEnds - 2), MAX_PAUSE_MS);
    log.warn({ reason, waitMs }, 'starting another worker process');
    const timer = setTimeout(() => {
      timers.delete(timer);
      start().catch((error: Error) => {
        if (!isClosing) replace(error.message, 0);
      });
    }, waitMs);
    timers.add(timer);
  }

  return {
    /** Resolves once all processes listen. */
    async start(): Promise<Addresses> {
      const [addresses] = await Promise.all(Array.from({ length: count }, start));
      probes.start();
      return addresses as Addresses;
    },

    /** Workers that run and respond. */
    list: (): Remote<Other>[] => [...running].flatMap(([worker, remote]) => (probes.isHung(worker) ? [] : [remote])),

    /** The process ids of workers that do not respond. */
    listHung: (): number[] => [...ready].filter(probes.isHung).map(({ process }) => process.pid ?? 0),

    /** Lets the processes complete their requests; ends those that take longer than `maxMs`. */
    async close(maxMs: number): Promise<void> {
      isClosing = true;
      await probes.close();
      for (const timer of timers) clearTimeout(timer);
      const ended = [...running].map(([worker, remote]) => {
        (remote as Remote<Stoppable>).stop().catch(() => {});
        return new Promise((resolve) => worker.once('exit', resolve));
      });
      const timer = setTimeout(() => {
        for (const worker of running.keys()) worker.process.kill('SIGKILL');
      }, maxMs);
      await Promise.all(ended);
      clearTimeout(timer);
    },
  };
}

/** A message to a process that has just ended is lost. */
const ignoreFailure = (): void => {};

const toPort = (worker: Worker): Port => ({
  send: (message) => void worker.send(message as object, undefined, undefined, ignoreFailure),
  onMessage: (listener) => void worker.on('message', listener),
  onClose: (listener) => void worker.once('exit', listener),
});

/** True in a process that was started by `createWorkers`. */
export const isWorker = (): boolean => cluster.isWorker;

/** The connection of a worker to the primary process. If that ends, the worker ends as well. */
export const toPrimaryPort = (): Port => ({
  send: (message) => void process.send?.(message, undefined, undefined, ignoreFailure),
  onMessage: (listener) => void process.on('message', listener),
  onClose: (listener) => void process.once('disconnect', listener),
});

/** The primary process gets the same signals, from a terminal for example, and stops its workers itself. */
export function ignoreSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
}

/** Ends this worker: without its connection to the primary process, it has nothing left to do. */
export const leave = (): void => process.disconnect?.();
