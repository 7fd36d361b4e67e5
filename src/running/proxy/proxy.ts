import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { toReachable } from '../../kernel/access/addresses.ts';
import { AppError } from '../../kernel/errors.ts';
import type { OpenFiles } from '../../kernel/open-files.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Upstream } from '../../management/services/driver.ts';
import { type Certificate, HANDSHAKE_MS } from '../../platform/tls/certificate.ts';
import { findPlainSocket } from '../../platform/tls/handshake.ts';
import { type AccessRules, type Attempts, createAccess } from './access.ts';
import { type Endpoint, type HealthState, handleRequest } from './endpoint.ts';
import { createGate, type WakeCause } from './gate.ts';
import { DEFAULT_LIMITS, type ProxyLimits } from './limits.ts';
import { listen } from './listen.ts';
import { answerMalformed } from './malformed.ts';
import { createNativeEndpoint, type NativeEndpoint } from './native/native-endpoint.ts';
import { createSqlCallers, type SqlAccess } from './sql-caller.ts';
import { createUseRules } from './statement.ts';
import { createTrafficCounter, type Traffic } from './traffic.ts';

/** A service with an endpoint. */
export interface ProxiedService extends AccessRules {
  id: string;
  /** 0 picks a free port. */
  port: number;
  /** The desired state, for health checks: they neither wake a service nor wait for it. */
  state: HealthState;
}

export interface ProxyOptions {
  clock: Clock;
  log: { debug(details: object, message: string): void; warn(details: object, message: string): void };
  /** The address that the endpoints listen on. */
  host: string;
  /** With it, clients must use TLS. */
  certificate?: Certificate | undefined;
  /**
   * Starts a service that a query is waiting for, or whose upstream does not answer. One call for all waiting queries; the
   * wait ends with `setUpstream`, or when the call is rejected. The message of an AppError is sent to the clients.
   */
  wake(serviceId: string, cause: WakeCause): Promise<void>;
  attempts: Attempts;
  /** Prefixes of user agents whose queries do not count as use. */
  ignoredAgents: readonly string[];
  /** Statements that do not count as use, whatever their case, white space and final semicolon. */
  ignoredStatements: readonly string[];
  /** Accept only requests whose Host header is a loopback name. */
  isLoopbackOnly?: boolean;
  openFiles?: OpenFiles | undefined;
  limits?: Partial<ProxyLimits>;
}

interface Proxy {
  /** Listens on the port of the service and returns it. */
  open(service: ProxiedService): Promise<number>;
  /** Also listens for the native protocol, on the port or, if it is 0, on any free one; returns it. */
  openNative(serviceId: string, port: number): Promise<number>;
  closeNative(serviceId: string): Promise<void>;
  /** Changes the password, the IP access list and the state for requests from now on, also on open connections. */
  update(service: Omit<ProxiedService, 'port'>): void;
  /** Where queries go; undefined while the service is not running. */
  setUpstream(serviceId: string, upstream: Upstream | undefined): void;
  /**
   * New queries wait. Resolves to true when none is running; after the time the running ones are canceled and it resolves
   * to false.
   */
  hold(serviceId: string, timeoutMs: number): Promise<boolean>;
  /** The waiting queries go to the current upstream. */
  release(serviceId: string): void;
  getTraffic(serviceId: string): Traffic;
  /** Where this process takes statements by role; undefined if it has no endpoint of the service. */
  findSqlAccess(serviceId: string): SqlAccess | undefined;
  /** Ends a running statement of this credential. Returns whether there was one. */
  cancelStatement(serviceId: string, queryId: string, credentialId: string): Promise<boolean>;
  /** Frees the port. Waiting queries are rejected, running ones canceled. */
  close(serviceId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** As ClickHouse; clients that keep connections count on it. */
const KEEP_ALIVE_MS = 30_000;

type Server = HttpServer | HttpsServer;

interface OpenEndpoint extends Endpoint {
  server: Server;
  /** Also those whose handshake is not complete, which the server does not count as its own. */
  connections: Set<Socket>;
  passwordHash: string;
  native?: NativeEndpoint | undefined;
  upstream?: Upstream | undefined;
}

/** The public ports of services. */
export function createProxy(options: ProxyOptions): Proxy {
  const { log, clock, host } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const useRules = createUseRules(options);
  const endpoints = new Map<string, OpenEndpoint>();
  const sqlCallers = createSqlCallers();

  function get(serviceId: string): OpenEndpoint {
    const endpoint = endpoints.get(serviceId);
    if (!endpoint) throw new AppError('not_found', `The service ${serviceId} has no open endpoint`);
    return endpoint;
  }

  function openServer(http: Parameters<typeof createServer>[0] & object): Server {
    const { certificate } = options;
    if (!certificate) return createServer(http);
    const server = createTlsServer({ ...http, ...certificate.options, handshakeTimeout: HANDSHAKE_MS });
    certificate.follow(server);
    return server;
  }

  function createEndpoint(service: ProxiedService): OpenEndpoint {
    const { id } = service;
    const server = openServer({
      keepAlive: true,
      noDelay: true,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: limits.maxHeadBytes,
      headersTimeout: limits.headMs,
      // An upload may take hours; ClickHouse ends one that makes no progress.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(limits.headMs, 5000),
    });
    server.maxConnections = limits.maxConnections;
    options.openFiles?.follow(server);
    const connections = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    });
    const endpoint: OpenEndpoint = {
      server,
      connections,
      state: service.state,
      passwordHash: service.passwordHash,
      limits,
      useRules,
      isRefused: (socket) => options.openFiles?.isRefused(findPlainSocket(socket) ?? socket) ?? false,
      isLoopbackOnly: options.isLoopbackOnly ?? false,
      findSqlCaller: sqlCallers.find,
      access: createAccess(id, options.attempts, service),
      traffic: createTrafficCounter(clock),
      gate: createGate({
        limits,
        wake: (cause) => options.wake(id, cause),
        logFailure: (error) => log.warn({ err: error, serviceId: id }, 'Starting a service for a query failed'),
      }),
      logFailure: (error, queryId) => log.debug({ err: error, serviceId: id, queryId }, 'A query was not completed'),
    };
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      handleRequest(endpoint, request, response, false),
    );
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
      handleRequest(endpoint, request, response, true),
    );
    server.on('clientError', answerMalformed);
    return endpoint;
  }

  async function close(serviceId: string): Promise<void> {
    const endpoint = endpoints.get(serviceId);
    if (!endpoint) return;
    endpoints.delete(serviceId);
    const { server, gate, connections, native } = endpoint;
    const closed = new Promise((resolve) => server.close(resolve));
    gate.close();
    await native?.close();
    // Answers that were just written are sent first.
    await new Promise(setImmediate);
    server.closeAllConnections();
    for (const socket of connections) socket.destroy();
    await closed;
  }

  return {
    async open(service) {
      if (endpoints.has(service.id))
        throw new AppError('conflict', `The endpoint of the service ${service.id} is open already`);
      const endpoint = createEndpoint(service);
      endpoints.set(service.id, endpoint);
      try {
        const port = await listen(endpoint.server, host, service.port);
        if (endpoints.get(service.id) === endpoint) return port;
      } catch (error) {
        endpoints.delete(service.id);
        throw error;
      }
      // `close` has no effect on a server that does not listen yet.
      endpoint.server.close();
      throw closedMeanwhile(service.id);
    },

    update(service) {
      const endpoint = get(service.id);
      const { passwordHash, state } = service;
      endpoint.access.setRules(service);
      endpoint.native?.applyRules(endpoint.passwordHash !== passwordHash);
      Object.assign(endpoint, { passwordHash, state });
    },

    async openNative(serviceId, port) {
      const endpoint = get(serviceId);
      const native = createNativeEndpoint({
        openFiles: options.openFiles,
        ...endpoint,
        clock,
        certificate: options.certificate,
        logFailure: (error) => log.debug({ err: error, serviceId }, 'A native connection failed'),
      });
      const opened = await listen(native.server, host, port);
      if (endpoints.get(serviceId) !== endpoint) {
        await native.close();
        throw closedMeanwhile(serviceId);
      }
      native.setUpstream(endpoint.upstream);
      endpoint.native = native;
      return opened;
    },

    async closeNative(serviceId) {
      const endpoint = endpoints.get(serviceId);
      const native = endpoint?.native;
      if (endpoint) endpoint.native = undefined;
      await native?.close();
    },

    setUpstream(serviceId, upstream) {
      const endpoint = get(serviceId);
      endpoint.upstream = upstream;
      endpoint.native?.setUpstream(upstream);
      endpoint.gate.setUpstream(upstream);
    },

    hold(serviceId, timeoutMs) {
      const { gate, traffic, native } = get(serviceId);
      gate.hold();
      native?.hold();
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          forget();
          for (const { socket } of traffic.listRunning()) socket.destroy();
          resolve(false);
        }, timeoutMs);
        const forget = traffic.whenEmpty(() => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },

    release(serviceId) {
      const { gate, native } = get(serviceId);
      native?.release();
      gate.release();
    },

    getTraffic(serviceId) {
      const { gate, traffic } = get(serviceId);
      const lastWake = gate.findLastWake();
      return { ...traffic.read(), waiting: gate.countWaiting(), ...(lastWake && { lastWake }) };
    },

    findSqlAccess(serviceId) {
      const address = endpoints.get(serviceId)?.server.address() as AddressInfo | null | undefined;
      if (!address) return undefined;
      const cert = options.certificate?.options.cert;
      return { host: toReachable(host), port: address.port, secret: sqlCallers.secret, ...(cert && { cert }) };
    },

    async cancelStatement(serviceId, queryId, credentialId) {
      const running = endpoints.get(serviceId)?.traffic.listRunning() ?? [];
      const passage = running.find((query) => query.id === queryId && query.credentialId === credentialId);
      await passage?.kill?.();
      return passage !== undefined;
    },

    close,
    async closeAll() {
      await Promise.all([...endpoints.keys()].map(close));
    },
  };
}

const closedMeanwhile = (serviceId: string): AppError =>
  new AppError('unavailable', `The endpoint of the service ${serviceId} was closed while it was opened`);
