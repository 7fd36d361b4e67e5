import pino, { type Logger } from 'pino';
import { type AccessLog, createAccessLog } from '../http/access-log.ts';
import { systemClock } from '../kernel/clock.ts';
import type { LogLevel } from '../settings.ts';
import { openLogSink } from './log-sink.ts';

const STANDARD_ERROR = 2;

interface Logs {
  log: Logger;
  /** Writes one line per request; does nothing when the level is above info. */
  access: AccessLog;
  close(): Promise<void>;
}

/** Logs to standard error in the background. The caller must close it before the process ends. */
export function openLogs(level: LogLevel): Logs {
  const timestamp = createTimestamp();
  const sink = openLogSink(STANDARD_ERROR, timestamp);
  const log = pino({ level, base: null, timestamp, serializers: { err: serializeError } }, sink);
  const access = log.isLevelEnabled('info')
    ? createAccessLog(sink.write, timestamp, pino.levels.values.info ?? 30)
    : () => {};
  return { log, access, close: sink.close };
}

/** ISO 8601, formatted at most once per millisecond: many lines share a timestamp. */
function createTimestamp(): () => string {
  let formattedMs = 0;
  let text = '';
  return () => {
    const now = systemClock.now();
    if (now !== formattedMs) {
      formattedMs = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** Omits the `detail` of database errors, which may quote stored values. */
function serializeError(error: unknown): object {
  const { name, message, code, stack } = (error ?? {}) as Error & { code?: unknown };
  return { name, message, code, stack };
}
