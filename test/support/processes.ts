import { readdirSync, readFileSync } from 'node:fs';

/** Lists the child processes of a process (Linux). A thread or the process itself may end in the meantime. */
export const listChildren = (pid: number): number[] =>
  (readIfPresent(() => readdirSync(`/proc/${pid}/task`)) ?? []).flatMap((task) =>
    (readIfPresent(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')) ?? '')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );

/** Undefined if the process, thread or file descriptor is gone. */
export function readIfPresent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** False for a process that has exited, also if its parent has not noticed yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Does nothing if the process has exited in the meantime. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  // Such a signal would be for all processes of the tests.
  if (!(pid > 0)) throw new Error(`${pid} is not a process`);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
