import { AppError } from '../kernel/errors.ts';
import { SECOND_MS } from '../kernel/time/clock.ts';

export type Shutdown = ReturnType<typeof createShutdown>;

/**
 * Steps run once, last added first, within `maxMs`. A step that fails or exceeds its time does not stop the others; the
 * first error is thrown.
 */
export function createShutdown(maxMs: number) {
  const steps: { name: string; reservedMs: number; run(): unknown }[] = [];
  let finished: Promise<void> | undefined;

  async function runSteps(): Promise<void> {
    const errors: unknown[] = [];
    const endsAt = performance.now() + maxMs;
    for (let step = steps.shift(); step; step = steps.shift()) {
      const reservedMs = steps.reduce((sum, later) => sum + later.reservedMs, 0);
      try {
        await withinTime(step, Math.max(step.reservedMs, endsAt - performance.now() - reservedMs));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    add: (name: string, reservedMs: number, run: () => unknown): void => void steps.unshift({ name, reservedMs, run }),
    /** Every call waits for the same run. */
    run: (): Promise<void> => {
      finished ??= runSteps();
      return finished;
    },
  };
}

async function withinTime({ name, run }: { name: string; run(): unknown }, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const text = `Stopping ${name} took longer than ${Math.round(limitMs / SECOND_MS)} s`;
    timer = setTimeout(() => reject(new AppError('unavailable', text)), limitMs);
  });
  try {
    await Promise.race([run(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
