import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { newUuid } from '../../../kernel/ids.ts';
import type { OpenFiles } from '../../../kernel/open-files.ts';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Upstream } from '../../../management/services/driver.ts';
import { queryRows } from '../../../platform/listener/query.ts';
import { type Certificate, HANDSHAKE_MS } from '../../../platform/tls/certificate.ts';
import { findPlainSocket } from '../../../platform/tls/handshake.ts';
import type { Access } from '../access.ts';
import type { Gate } from '../gate.ts';
import type { ProxyLimits } from '../limits.ts';
import type { UseRules } from '../statement.ts';
import type { Passage, TrafficCounter } from '../traffic.ts';
import { acceptClient, type Connected } from './connection.ts';
import { createRelay, type Relay } from './relay.ts';

interface Options {
  access: Access;
  gate: Gate;
  traffic: TrafficCounter;
  limits: ProxyLimits;
  useRules: UseRules;
  clock: Clock;
  openFiles?: OpenFiles | undefined;
  /** With it, clients must use TLS. */
  certificate: Certificate | undefined;
  logFailure(error: unknown): void;
}

/** The ports by which the process knows the connections that have a query. */
const RUNNING = 'SELECT port FROM system.processes WHERE interface = 1';
const CHECK_MS = SECOND_MS;
const CHECK_TIMEOUT_MS = 5 * SECOND_MS;

/** A client that is connected to the process. */
interface Session {
  relay: Relay;
  userAgent: string;
  /** The query that it sent last, until the process no longer has it. */
  passage: Passage | undefined;
  /** The client has sent something since the last check. */
  hasSent: boolean;
}

export type NativeEndpoint = ReturnType<typeof createNativeEndpoint>;

/** The public port of a service for the native protocol of ClickHouse. */
export function createNativeEndpoint(options: Options) {
  const { access, traffic, limits, useRules, clock } = options;
  const sessions = new Set<Session>();
  /** Also those whose handshake or hello is not complete. */
  const connections = new Set<Socket>();
  let upstream: Upstream | undefined;
  let isHeld = false;
  let timer: NodeJS.Timeout | undefined;
  const isFull = (client: Socket): boolean =>
    sessions.size >= limits.maxNativeClients ||
    (options.openFiles?.isRefused(findPlainSocket(client) ?? client) ?? false);
  const accept = (client: Socket) =>
    acceptClient(client, { ...options, now: clock.now, isFull: () => isFull(client), onConnected });
  const server = listenFor(accept, options);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  options.openFiles?.follow(server);
  server.maxConnections = limits.maxConnections;

  function onConnected({ client, upstream: connection, revision, userAgent, rest }: Connected): void {
    traffic.skip(client);
    const session: Session = {
      userAgent,
      passage: undefined,
      hasSent: false,
      relay: createRelay({
        client,
        upstream: connection,
        revision,
        closeMs: limits.rejectedMs,
        onPackets: (kind) => takePackets(session, kind),
        onClose() {
          sessions.delete(session);
          endPassage(session);
        },
      }),
    };
    sessions.add(session);
    session.relay.begin(rest);
  }

  /** False: the packets wait, because the service is about to be restarted. */
  function takePackets(session: Session, kind: 'query' | 'other'): boolean {
    const isNew = kind === 'query' || session.passage === undefined;
    if (isNew && isHeld) return false;
    session.hasSent = true;
    if (isNew) beginPassage(session);
    return true;
  }

  function beginPassage(session: Session): void {
    endPassage(session);
    const { userAgent, relay } = session;
    const since = traffic.count(useRules.isIgnored(userAgent, undefined));
    session.passage = traffic.begin({ id: newUuid(), since, userAgent, kind: 'UNKNOWN' }, relay.client);
    timer ??= setTimeout(check, CHECK_MS).unref();
  }

  function endPassage(session: Session): void {
    const { passage } = session;
    session.passage = undefined;
    if (passage) traffic.end(passage);
  }

  /** The end of a query cannot be told from its bytes: the process knows which connections have one. */
  async function check(): Promise<void> {
    // A query that was just sent may not be known yet.
    const silent = [...sessions].filter(({ hasSent }) => !hasSent);
    for (const session of sessions) session.hasSent = false;
    try {
      if (!upstream) return;
      const rows = await queryRows<[number]>(upstream, RUNNING, limitTime(CHECK_TIMEOUT_MS));
      const running = new Set(rows.map(([port]) => port));
      for (const session of silent) if (!session.hasSent && !running.has(session.relay.port ?? 0)) endPassage(session);
    } catch (error) {
      options.logFailure(error);
    } finally {
      const isNeeded = server.listening && [...sessions].some(({ passage }) => passage);
      timer = isNeeded ? setTimeout(check, CHECK_MS).unref() : undefined;
    }
  }

  return {
    server,

    /** Connections to another process than before are closed; their clients connect again. */
    setUpstream(next: Upstream | undefined): void {
      // The password is new for each start of a process.
      const isSame = upstream?.native?.password === next?.native?.password;
      upstream = next;
      if (!isSame) for (const { relay } of sessions) relay.close();
    },

    /** Closes the connections that could not be opened any more: all after a change of the password. */
    applyRules(isNewPassword: boolean): void {
      for (const { relay } of sessions)
        if (isNewPassword || access.checkAddress(relay.client.remoteAddress ?? '')) relay.close();
    },

    /** New queries wait. */
    hold(): void {
      isHeld = true;
    },

    release(): void {
      isHeld = false;
      for (const session of sessions) if (session.relay.release()) beginPassage(session);
    },

    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
      for (const { relay } of sessions) relay.close();
      // Answers that were just written are sent first.
      await new Promise(setImmediate);
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

function listenFor(accept: (client: Socket) => void, { certificate }: Options): Server {
  const tcp = { allowHalfOpen: true, noDelay: true, keepAlive: true };
  if (!certificate) return createServer(tcp, accept);
  const server = createTlsServer({ ...tcp, ...certificate.options, handshakeTimeout: HANDSHAKE_MS }, accept);
  server.on('tlsClientError', (_, socket) => socket.destroy());
  certificate.follow(server);
  return server;
}
