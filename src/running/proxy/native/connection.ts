import { connect, type Socket } from 'node:net';
import { type Hello, renderHello } from '../../../platform/listener/native-hello.ts';
import type { Access } from '../access.ts';
import type { Exception } from '../exceptions.ts';
import type { Gate } from '../gate.ts';
import type { ProxyLimits } from '../limits.ts';
import type { Target } from '../target.ts';
import { MAX_HELLO_BYTES, readHello } from './hello.ts';
import { endClient, HTTP_ANSWER, renderException } from './rejection.ts';

/** A client with the right password, and the connection to the process that knows it as the process's own user. */
export interface Connected {
  client: Socket;
  upstream: Socket;
  /** Of the protocol that the client knows. */
  revision: number;
  userAgent: string;
  /** What the client has sent after its hello. */
  rest: Buffer;
}

interface Options {
  access: Access;
  gate: Gate;
  limits: ProxyLimits;
  /** Epoch milliseconds. */
  now(): number;
  /** The process has as many clients as it may have. */
  isFull(): boolean;
  onConnected(connected: Connected): void;
  logFailure(error: unknown): void;
}

const MAX_NAME_CHARACTERS = 200;
/** The process may have ended just before it was connected to. */
const MAX_ATTEMPTS = 3;

const OTHER_AUTHENTICATION: Exception = {
  name: 'AUTHENTICATION_FAILED',
  text: 'Only the user default with its password can connect',
};
const NO_NATIVE: Exception = {
  name: 'ALL_CONNECTION_TRIES_FAILED',
  text: 'The service does not support the native protocol on this machine; use its HTTP endpoint',
};
const CHANGED: Exception = {
  name: 'AUTHENTICATION_FAILED',
  text: 'The password or the IP access list of the service has changed',
};
const LOST: Exception = { name: 'NETWORK_ERROR', text: 'Cannot connect to the service' };

const tooMany = (limit: number): Exception => ({
  name: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  text: `Too many native connections to the service. Maximum: ${limit}`,
});

const toAgent = ({ clientName }: Hello): string => clientName.slice(0, MAX_NAME_CHARACTERS);

/** Takes the hello of a client, checks it, waits for the service and connects to its process. */
export function acceptClient(client: Socket, options: Options): void {
  const { access, gate, limits } = options;
  const address = client.remoteAddress ?? '';
  /** What was read and not used yet. */
  let bytes: Buffer = Buffer.alloc(0);
  let leave = () => {};
  let attempts = 0;
  const timer = setTimeout(
    () => reject({ name: 'SOCKET_TIMEOUT', text: `No hello within ${limits.headMs / 1000} s` }),
    limits.headMs,
  );

  function stop(): void {
    clearTimeout(timer);
    leave();
    client.off('data', take).off('data', keep).off('end', leaveEarly).off('close', stop);
  }

  function leaveEarly(): void {
    stop();
    client.destroy();
  }

  function end(last: Buffer | string): void {
    stop();
    endClient(client, last, limits);
  }

  const reject = (exception: Exception): void => end(renderException(exception));

  /** Until the hello is complete. */
  function take(chunk: Buffer): void {
    bytes = Buffer.concat([bytes, chunk]);
    const reading = readHello(bytes);
    if (reading === undefined) return;
    if ('isHttp' in reading) return void end(HTTP_ANSWER);
    if ('problem' in reading) return void reject({ name: 'UNEXPECTED_PACKET_FROM_CLIENT', text: reading.problem });
    clearTimeout(timer);
    bytes = reading.rest;
    // Clients wait for an answer. Those that do not are read no further; the others are, to notice when they disconnect.
    client.off('data', take).on('data', keep);
    void authenticate(reading.hello);
  }

  function keep(chunk: Buffer): void {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > MAX_HELLO_BYTES) client.pause();
  }

  async function authenticate(hello: Hello): Promise<void> {
    // ClickHouse's marks for other ways to authenticate begin with a space.
    if (hello.user.startsWith(' ')) return reject(OTHER_AUTHENTICATION);
    const credentials = await access.checkCredentials(hello, address);
    if (client.destroyed) return;
    if ('name' in credentials) return reject(credentials);
    if (options.isFull()) return reject(tooMany(limits.maxNativeClients));
    enter(hello);
  }

  function enter(hello: Hello, failed?: Target): void {
    const cause = {
      address,
      userAgent: toAgent(hello),
      username: 'default',
      kind: 'UNKNOWN',
      at: options.now(),
    } as const;
    leave = gate.enter({ cause, start: (target) => start(hello, target), fail: reject }, failed);
  }

  function start(hello: Hello, target: Target): void {
    leave = () => {};
    if (!target.native) return void reject(NO_NATIVE);
    const { port, user, password } = target.native;
    const upstream = connect({ host: target.host, port, noDelay: true, allowHalfOpen: true });
    leave = () => upstream.destroy();
    upstream.once('error', (error) => {
      leave = () => {};
      if (client.destroyed || client.readableEnded) return;
      options.logFailure(error);
      if (++attempts < MAX_ATTEMPTS) enter(hello, target);
      else reject(LOST);
    });
    upstream.once('connect', () => {
      upstream.removeAllListeners('error');
      leave = () => {};
      // It may have waited for a minute.
      if (!access.isValid(hello, address)) {
        upstream.end().resume();
        return void reject(CHANGED);
      }
      stop();
      upstream.write(renderHello({ ...hello, user, password }));
      options.onConnected({ client, upstream, revision: hello.revision, userAgent: toAgent(hello), rest: bytes });
    });
  }

  // Without a listener, an error of a connection would end the process.
  client.on('error', () => {});
  client.on('data', take).on('end', leaveEarly).on('close', stop);
  const refusal = access.checkAddress(address);
  if (refusal) reject(refusal);
}
