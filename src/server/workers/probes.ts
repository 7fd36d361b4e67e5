import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';

interface Options<Worker> {
  clock: Pick<Clock, 'monotonicMs'>;
  listWorkers(): Iterable<Worker>;
  /** Resolves when the worker answers. May fail if the worker ends. */
  probe(worker: Worker): Promise<unknown>;
  /** Called once for a worker that has not answered for about 10 seconds. */
  onHung(worker: Worker): void;
}

const PROBE_MS = 2 * SECOND_MS;
/** A pass that starts later than this was delayed itself, by a busy or suspended machine, and does not count against a worker. */
const MAX_PASS_MS = 2 * PROBE_MS;
/** After 6 seconds a worker counts as hung, after 10 it is replaced. A worker on a busy machine answers before. */
const MARKED_MISSES = 3;
export const REPLACED_MISSES = 5;

/** Finds workers that run and do not answer. A worker has one unanswered probe at most. */
export function createProbes<Worker extends object>({ clock, listWorkers, probe, onHung }: Options<Worker>) {
  /** The passes without an answer to the last probe. */
  const misses = new Map<Worker, number>();
  let lastPassMs: number | undefined;

  const loop = createBackgroundLoop({ run, everyMs: PROBE_MS, onError() {} });

  function run(): void {
    const now = clock.monotonicMs();
    const isDelayed = lastPassMs !== undefined && now - lastPassMs > MAX_PASS_MS;
    lastPassMs = now;
    for (const worker of listWorkers()) {
      const missed = misses.get(worker);
      if (missed === undefined) send(worker);
      else if (!isDelayed) count(worker, missed + 1);
    }
  }

  function send(worker: Worker): void {
    misses.set(worker, 0);
    const forget = () => void misses.delete(worker);
    probe(worker).then(forget, forget);
  }

  function count(worker: Worker, missed: number): void {
    misses.set(worker, missed);
    if (missed === REPLACED_MISSES) onHung(worker);
  }

  return {
    start: loop.start,
    pass: run,
    isHung: (worker: Worker): boolean => (misses.get(worker) ?? 0) >= MARKED_MISSES,
    close: loop.close,
  };
}
