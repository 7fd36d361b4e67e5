import { memoize } from '../../../kernel/memo.ts';

/** A completed request, for logs and telemetry. The suffix of the key id is the only part that comes from the client. */
export interface CompletedRequest {
  requestId: string;
  operation: string;
  method: string;
  /** The route template, `/v1/organizations/:organizationId`; empty if no route matched. */
  route: string;
  /** The suffix of the key id; undefined for unauthenticated requests, as is the organization. */
  key: string | undefined;
  organizationId: string | undefined;
  status: number;
  ms: number;
}

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
