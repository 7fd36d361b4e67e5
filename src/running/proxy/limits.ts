import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import { MAX_URL_BYTES } from '../../kernel/url-limits.ts';

export interface ProxyLimits {
  /** How long a query waits for its service before it is rejected. */
  waitMs: number;
  /** Queries of one service that may wait at the same time. */
  maxWaiting: number;
  maxConnections: number;
  /** Native clients that are connected to the process of one service: each is a thread there. */
  maxNativeClients: number;
  /** How long the request line and the headers may take. */
  headMs: number;
  /** How long the first bytes of a body may take. The rest is timed by ClickHouse (`http_receive_timeout`). */
  bodyMs: number;
  /** Longer statements belong in the body. */
  maxUrlBytes: number;
  /** Of the request line and all headers together; the URL is most of it. */
  maxHeadBytes: number;
  /** How much of the body of a rejected request is read, so that the client receives the response. */
  maxRejectedBytes: number;
  /** How long the rest of the body of a rejected request may take. */
  rejectedMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: ProxyLimits = {
  waitMs: MINUTE_MS,
  maxWaiting: 1000,
  maxConnections: 4096,
  maxNativeClients: 1000,
  headMs: 30 * SECOND_MS,
  bodyMs: 30 * SECOND_MS,
  maxUrlBytes: MAX_URL_BYTES,
  maxHeadBytes: MAX_URL_BYTES + 64 * KIB,
  maxRejectedBytes: MIB,
  rejectedMs: 5 * SECOND_MS,
};
