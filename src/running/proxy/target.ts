import { Agent } from 'node:http';
import type { Upstream } from '../../management/services/driver.ts';
import { createRequestHeaders, type RequestHeaders } from './forwarded-headers.ts';

/** An upstream and the connections to it. */
export interface Target {
  host: string;
  port: number;
  agent: Agent;
  headers: RequestHeaders;
  /** Closes the connections that carry no query. */
  close(): void;
}

/** Shorter than the time after which ClickHouse closes an idle connection, so that no query is sent to a closing one. */
const IDLE_CONNECTION_MS = 2000;
const MAX_IDLE_CONNECTIONS = 256;

export function createTarget(upstream: Upstream): Target {
  const agent = new Agent({
    keepAlive: true,
    noDelay: true,
    scheduling: 'lifo',
    maxFreeSockets: MAX_IDLE_CONNECTIONS,
    timeout: IDLE_CONNECTION_MS,
  });
  return {
    host: upstream.host,
    port: upstream.port,
    agent,
    headers: createRequestHeaders(upstream),
    close() {
      // Connections that are in use are closed after their response instead of being kept.
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    },
  };
}
