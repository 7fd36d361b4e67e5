import { connect, type Socket } from 'node:net';
import type { Json } from './client.ts';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  json: Json;
}

interface RawConnection {
  socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** Resolves once the server has closed the connection. */
  closed: Promise<void>;
  /** Everything received so far. */
  received(): string;
  /** The next response on this connection. */
  response(): Promise<RawResponse>;
}

const TIMEOUT_MS = 100_000;

/** A TCP connection that sends exactly the given bytes, valid HTTP or not. */
export async function openRawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => {});
  let bytes = Buffer.alloc(0);
  let isClosed = false;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => {
    isClosed = true;
  });
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
  });

  const waitForData = () =>
    new Promise<void>((resolve) => {
      const finish = () => {
        socket.off('data', finish).off('close', finish);
        resolve();
      };
      socket.on('data', finish).on('close', finish);
    });

  return {
    socket,
    send: (chunk) => void socket.write(chunk),
    closed,
    received: () => bytes.toString('utf8'),
    async response() {
      const timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
      try {
        for (;;) {
          const parsed = parseResponse(bytes);
          if (parsed) {
            bytes = bytes.subarray(parsed.length);
            return parsed.response;
          }
          if (isClosed)
            throw new Error(
              `the connection ended without a complete response; received: ${JSON.stringify(bytes.toString('utf8').slice(0, 500))}`,
            );
          await waitForData();
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Sends exactly these bytes and returns the response. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<RawResponse> {
  const connection = await openRawConnection(url);
  try {
    connection.send(bytes);
    return await connection.response();
  } finally {
    connection.socket.destroy();
  }
}

/** A request head, including the empty line at its end. */
export const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

function parseResponse(bytes: Buffer): { response: RawResponse; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const start = end + 4;
  const length = Number(headers['content-length'] ?? 0);
  if (bytes.length < start + length) return undefined;
  const text = bytes.subarray(start, start + length).toString('utf8');
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  return {
    response: { status, headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined },
    length: start + length,
  };
}
