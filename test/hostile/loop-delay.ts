import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROBE = join(import.meta.dirname, 'loop-probe.cjs');

/** The environment of a server whose event loop is measured. */
export const probeEnvironment = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `--require ${JSON.stringify(PROBE)}`,
  LOOP_PROBE_FILE: file,
});

/** The CPU times in milliseconds that the event loop of a server was held for. */
export function createLoopDelays(file: string) {
  let seen = 0;
  return {
    /** The longest since the last call; 0 if none took long enough to be reported. */
    async takeLongest(settle: () => Promise<unknown>): Promise<number> {
      // The probe reports in a timer, and a request takes at least one turn of the loop.
      for (let turn = 0; turn < 3; turn++) await settle();
      const all = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
      const added = all.slice(seen);
      seen = all.length;
      return Math.max(0, ...added);
    },
  };
}
