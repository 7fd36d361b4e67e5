import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WakeCause } from './gate.ts';
import { isRead } from './statement.ts';
import type { RunningQuery } from './traffic.ts';

/** A query with the right password. */
export interface Query extends RunningQuery {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path and parameters of the request to ClickHouse. */
  path: string;
  body: QueryBody;
  cause: WakeCause;
}

/**
 * `none`: there is no body. `whole`: it has been read. `stream`: it has not been read, or only its beginning, which is
 * back in the stream. `isAwaited`: the client sends it after `100 Continue`.
 */
export type QueryBody = { type: 'none' } | { type: 'whole'; bytes: Buffer } | { type: 'stream'; isAwaited: boolean };

/** Whether the query may be sent again when its first connection was lost: it changes nothing, and its body is at hand. */
export function isRepeatable({ request, body, kind }: Query): boolean {
  if (body.type === 'stream') return false;
  // ClickHouse runs these read-only.
  return request.method === 'GET' || request.method === 'HEAD' || isRead(kind);
}
