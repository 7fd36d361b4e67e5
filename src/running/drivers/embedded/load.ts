import { readFileSync } from 'node:fs';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Load } from '../../../management/services/driver.ts';
import { query } from '../../../platform/listener/query.ts';
import type { RunningService } from './running-service.ts';
import { trimQueryLog } from './server-settings.ts';

/** USER_HZ, the unit of /proc/PID/stat, on x64 and arm64. */
const TICKS_PER_SECOND = 100;
const KIBIBYTE = 1024;
/** How long the size of the stored data is not read again. */
const STORED_BYTES_MS = MINUTE_MS;

/** Measures one run of a service. */
export function createLoadMeter(service: RunningService, clock: Clock) {
  let last: { cpuSeconds: number; atMs: number } | undefined;
  let stored: { bytes: number; atMs: number } | undefined;

  function readCpuCores(): number | undefined {
    const cpuSeconds = readCpuSeconds(service.pid);
    if (cpuSeconds === undefined) return undefined;
    const atMs = clock.monotonicMs();
    const elapsedMs = last === undefined ? 0 : atMs - last.atMs;
    const cores = last && elapsedMs > 0 ? ((cpuSeconds - last.cpuSeconds) * SECOND_MS) / elapsedMs : undefined;
    if (last === undefined || elapsedMs > 0) last = { cpuSeconds, atMs };
    return cores;
  }

  async function readStoredBytes(signal: AbortSignal): Promise<number> {
    if (stored === undefined || clock.monotonicMs() - stored.atMs >= STORED_BYTES_MS) {
      const text = await query(service.upstream, 'SELECT sum(bytes_on_disk) FROM system.parts', signal);
      stored = { bytes: Number(text), atMs: clock.monotonicMs() };
      await trimQueryLog(service.upstream, signal);
    }
    return stored.bytes;
  }

  return {
    /** Fails if the service does not answer. */
    async measure(signal: AbortSignal): Promise<Load> {
      const cpuCores = readCpuCores();
      const memoryBytes = readMemoryBytes(service.pid);
      const failures = "SELECT sum(value) FROM system.errors WHERE name = 'MEMORY_LIMIT_EXCEEDED'";
      return {
        ...(cpuCores !== undefined && { cpuCores }),
        ...(memoryBytes !== undefined && { memoryBytes }),
        outOfMemory: Number(await query(service.upstream, failures, signal)),
        storedBytes: await readStoredBytes(signal),
      };
    },
    getStoredBytes: (): number | undefined => stored?.bytes,
  };
}

export type LoadMeter = ReturnType<typeof createLoadMeter>;

/** Undefined where the system has no /proc, and when the process has ended. */
function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

export function readCpuSeconds(pid: number): number | undefined {
  // The second field is the name in parentheses, which may contain spaces. User and system time are fields 14 and 15.
  const fields = readProcFile(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Without the pages of the library's file, which all services share. */
function readMemoryBytes(pid: number): number | undefined {
  const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readProcFile(pid, 'status') ?? '') ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * KIBIBYTE;
}
