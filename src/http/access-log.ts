import { memoize } from '../kernel/memo.ts';

/** One answered request, for whoever watches. Nothing in it comes from the client but the suffix of a key id. */
export interface CompletedRequest {
  requestId: string;
  operation: string;
  method: string;
  /** The template, `/v1/organizations/:organizationId`; empty when the request matched none. */
  route: string;
  /** Undefined for strangers, as is their organization. */
  key: string | undefined;
  organizationId: string | undefined;
  status: number;
  ms: number;
}

export type AccessLog = (access: CompletedRequest) => void;

const quoted = memoize((text) => JSON.stringify(text));

/**
 * The line that every request writes, in the same form as pino's others. It is put together by hand, because building
 * it with pino took as long as finding the key.
 */
export function createAccessLog(write: (line: string) => void, timestamp: () => string, level: number): AccessLog {
  return ({ requestId, operation, key, status, ms }) => {
    const who = key === undefined ? '' : `,"key":${quoted(key)}`;
    write(
      `{"level":${level}${timestamp()},"requestId":"${requestId}","operation":"${operation}"${who},"status":${status},"ms":${ms},"msg":"answered"}\n`,
    );
  };
}
