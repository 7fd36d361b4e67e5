import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import {
  type Configuration,
  type Ports,
  removeConfiguration,
  SECRET_HEADER,
  type User,
  writeConfiguration,
} from './configuration.ts';
import { isAdmitted } from './native-hello.ts';
import { type ErrorOutput, type ListenerProcess, startProcess } from './process.ts';
import { type Address, query } from './query.ts';

/** ClickHouse in a separate process, with its interfaces on loopback ports. */
export interface Listener extends ListenerProcess {
  /** The headers contain the secret, but no credentials. */
  address: Address;
  version: string;
  /** Of the loopback address; undefined if the process does not listen for the native protocol. */
  nativePort: number | undefined;
}

interface Options extends Omit<Configuration, 'users'> {
  /** Path of the built program. */
  program: string;
  /** Path of libchdb. */
  library: string;
  users: readonly [User, ...User[]];
  /** Also listen for the native protocol, where that is possible. */
  isNative?: boolean;
  /** Whether the process may read the counters of its threads; only if its users cannot read files. */
  hasThreadCounters?: boolean;
  /** Gets what the process writes to standard error; by default it is logged. */
  errors?: ErrorOutput;
  log: Pick<Logger, 'debug'>;
  /** Returns a free port of the loopback address. */
  findPort?(): Promise<number>;
}

/** The process ended or did not answer. The message is a part of a sentence; `lines` are the last lines of its output. */
export class StartFailure extends Error {
  readonly lines: readonly string[];
  constructor(message: string, lines: readonly string[] = []) {
    super(message);
    this.lines = lines;
  }
}

const START_MS = 120 * SECOND_MS;
const POLL_MS = 10;
/** Another process can take the free port before ClickHouse does. */
const PORT_ATTEMPTS = 5;
const MAX_REASON_CHARACTERS = 300;

/** Starts the process and waits until it answers. An aborted signal ends the process. Throws `StartFailure`. */
export async function startListener(options: Options, signal?: AbortSignal): Promise<Listener> {
  const limit = limitTime(START_MS, signal);
  const { findPort = findFreePort, isNative = false } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      const ports = { port: await findPort(), nativePort: isNative ? await findPort() : undefined };
      return await tryStart(options, ports, limit);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      if (signal?.aborted) throw new StartFailure('the start was canceled');
      if (limit.aborted) throw new StartFailure(`no response within ${START_MS / SECOND_MS} s`, error.lines);
      if (attempt === PORT_ATTEMPTS || !/Address already in use/i.test(error.message)) throw error;
    }
  }
}

async function tryStart(options: Options, ports: Ports, signal: AbortSignal): Promise<Listener> {
  const { program, library, data, folder, secret, users, hasThreadCounters = false, errors, log } = options;
  const address: Address = {
    host: '127.0.0.1',
    port: ports.port,
    headers: secret === undefined ? {} : { [SECRET_HEADER]: secret },
  };
  try {
    const values = writeConfiguration(options, ports);
    const message = { library, data, configuration: folder, ...ports, hasThreadCounters, arguments: values };
    const process = startProcess(program, message, data, log, errors);
    const version = await waitForAnswer(process, withUser(address, users[0]), signal);
    const nativePort = process.hasNative() ? ports.nativePort : undefined;
    const weakness = version === undefined ? undefined : await findWeakness(address, users[0], nativePort, signal);
    if (version !== undefined && weakness === undefined) return { ...process, address, version, nativePort };
    process.kill();
    if (weakness !== undefined) throw new StartFailure(weakness);
    throw new StartFailure(describeEnd(process, await process.ended), process.listLines());
  } finally {
    removeConfiguration(options);
  }
}

/**
 * What keeps other programs on this machine from sending queries is not documented by ClickHouse: the secret is an argument,
 * and a limit of sessions keeps clients from being the user `default`, which has no password.
 */
async function findWeakness(
  address: Address,
  user: User,
  nativePort: number | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { host, port, headers } = address;
  const hasSecret = Object.keys(headers).length > 0;
  if (hasSecret && (await isAnswered(withUser({ host, port, headers: {} }, user), signal)))
    return 'the process answers requests without its secret';
  if (await isAnswered(address, signal)) return 'the process answers requests of its user default';
  if (nativePort !== undefined && (await isAdmitted(host, nativePort, { user: 'default', password: '' }, signal)))
    return 'the process admits its user default to its native port';
  return undefined;
}

const isAnswered = (address: Address, signal: AbortSignal): Promise<boolean> =>
  query(address, 'SELECT 1', signal).then(
    () => true,
    () => false,
  );

/** The version of ClickHouse; undefined if the process ended or the signal was aborted. */
async function waitForAnswer(
  process: ListenerProcess,
  address: Address,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ended = new AbortController();
  void process.ended.then(() => ended.abort());
  const limit = AbortSignal.any([signal, ended.signal]);
  while (!limit.aborted) {
    // Another process that took the port does not know the credentials, so it is not mistaken for the listener.
    const version = await query(address, 'SELECT version()', limit).catch(() => undefined);
    if (version !== undefined) return version.trim();
    await delay(POLL_MS);
  }
  return undefined;
}

/** The address with the credentials of a user. */
export const withUser = ({ host, port, headers }: Address, { name, password }: User): Address => ({
  host,
  port,
  headers: { ...headers, 'X-ClickHouse-User': name, 'X-ClickHouse-Key': password },
});

/** Why a process ended, in one sentence, with the last line of its output that tells more. */
function describeEnd(process: ListenerProcess, reason: string): string {
  // After an error ClickHouse would read the terminal, and fails because it has no file for what is typed.
  const lines = process.listLines().filter((text) => !text.includes('cannot place history file'));
  const line = lines.findLast((text) => /Exception|rror/.test(text)) ?? lines.at(-1);
  return `the process ended with ${reason}${line === undefined ? '' : `: ${line.slice(0, MAX_REASON_CHARACTERS)}`}`;
}

export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
