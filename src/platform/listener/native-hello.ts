import { connect } from 'node:net';

/** The first packet of a client of ClickHouse's native protocol. */
export interface Hello {
  clientName: string;
  major: number;
  minor: number;
  /** Of the protocol that the client knows; the server uses what both know. */
  revision: number;
  database: string;
  user: string;
  password: string;
}

const HELLO = 0;

/** LEB128, for numbers up to 2^53. */
export function renderVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

export function renderText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([renderVarint(bytes.length), bytes]);
}

export const renderHello = ({ clientName, major, minor, revision, database, user, password }: Hello): Buffer =>
  Buffer.concat([
    renderVarint(HELLO),
    renderText(clientName),
    ...[major, minor, revision].map(renderVarint),
    ...[database, user, password].map(renderText),
  ]);

/** The oldest revision that ClickHouse answers. */
const OLD_REVISION = 54060;

/** Whether the process at the port takes queries with these credentials. */
export function isAdmitted(
  host: string,
  port: number,
  credentials: Pick<Hello, 'user' | 'password'>,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.once('error', () => resolve(false));
    // An exception is another packet.
    socket.once('data', (bytes) => {
      socket.end();
      resolve(bytes[0] === HELLO);
    });
    socket.once('close', () => resolve(false));
    socket.write(
      renderHello({
        clientName: 'pilothouse',
        major: 1,
        minor: 1,
        revision: OLD_REVISION,
        database: '',
        ...credentials,
      }),
    );
  });
}
