import pino, { type Logger } from 'pino';
import { systemClock } from '../../kernel/time/clock.ts';
import { type AccessLog, createAccessLog } from '../../platform/http/monitoring/access-log.ts';
import type { LogLevel } from '../../server/settings/settings.ts';
import { openLogSink } from './log-sink.ts';

const STANDARD_ERROR = 2;

interface Logs {
  log: Logger;
  /** Writes one line per request; does nothing while the level is above info. */
  access: AccessLog;
  /** Switches between the configured level and debug; from debug or trace, to info. */
  toggleDebug(): void;
  close(): Promise<void>;
}

/** Logs to standard error in the background. The caller must close it before the process ends. */
export function openLogs({ logLevel: level, workers = 1 }: { logLevel: LogLevel; workers?: number }): Logs {
  const timestamp = createTimestamp();
  const sink = openLogSink(STANDARD_ERROR, timestamp, { isShared: workers > 1 });
  const log = pino({ level, base: null, timestamp, serializers: { err: serializeError } }, sink);
  const writeAccess = createAccessLog(sink.write, timestamp, pino.levels.values.info ?? 30);
  let isAccessLogged = log.isLevelEnabled('info');
  const other: LogLevel = level === 'debug' || level === 'trace' ? 'info' : 'debug';
  return {
    log,
    access(request) {
      if (isAccessLogged) writeAccess(request);
    },
    toggleDebug() {
      const next = log.level === level ? other : level;
      // Logged with the more verbose of the two levels.
      if (!log.isLevelEnabled('info')) log.level = next;
      log.info({ logLevel: next }, 'log level changed');
      log.level = next;
      isAccessLogged = log.isLevelEnabled('info');
    },
    close: sink.close,
  };
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
