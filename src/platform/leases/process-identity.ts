import { readFileSync, readlinkSync } from 'node:fs';

/** Where the id of a process means one process. Two containers with the same host name have different ones. */
export interface ProcessSpace {
  /** Of the running kernel. */
  bootId: string;
  /** Of the PID namespace. */
  namespace: string;
  /** When this process started, in ticks since the boot. */
  startedAt: string;
}

/** Undefined where it cannot be known: without the proc file system of Linux, or with that of another namespace. */
export function readProcessSpace(): ProcessSpace | undefined {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const startedAt = readStart('self');
    if (bootId === '' || startedAt === undefined) return undefined;
    return { bootId, namespace: readlinkSync('/proc/self/ns/pid'), startedAt };
  } catch {
    return undefined;
  }
}

/**
 * Whether a process has ended, as seen from `own`. False if that is not certain: its id means another process elsewhere,
 * and here it may belong to one that this process must not see.
 */
export function hasProcessEnded(pid: number, space: ProcessSpace, own: ProcessSpace | undefined): boolean {
  if (own?.bootId !== space.bootId || own.namespace !== space.namespace) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  // The id may belong to a later process.
  const startedAt = readStart(pid);
  return startedAt !== undefined && startedAt !== space.startedAt;
}

/** The fields of the file come after the name of the program, which may contain spaces and parentheses. */
function readStart(pid: number | 'self'): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22; the first after the name is field 3.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
