import { memoize } from '../../../kernel/memo.ts';
import type { CompletedRequest } from '../../../kernel/metrics/request-series.ts';

export type AccessLog = (access: CompletedRequest) => void;

const quote = memoize((text) => JSON.stringify(text));

/**
 * Writes one log line per request, in pino's format. The line is concatenated here, because pino took as long to build it
 * as the server takes to look up the key.
 */
export function createAccessLog(write: (line: string) => void, timestamp: () => string, level: number): AccessLog {
  return ({ requestId, operation, key, status, ms }) => {
    const credential = key === undefined ? '' : `,"key":${quote(key)}`;
    write(
      `{"level":${level}${timestamp()},"requestId":"${requestId}","operation":"${operation}"${credential},"status":${status},"ms":${ms},"msg":"request completed"}\n`,
    );
  };
}
