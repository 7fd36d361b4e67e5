import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type Hello, renderHello, renderText, renderVarint } from '../../src/platform/listener/native-hello.ts';

/** A revision whose packets are short: no addendum after the hello, no profile events. */
const REVISION = 54406;

interface Options extends Partial<Hello> {
  port: number;
  host?: string;
  /** Uses TLS. */
  tls?: ConnectionOptions;
}

export class NativeException extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Row = (string | number)[];

/** Numbers of the packets of a server. */
const PACKETS = { hello: 0, data: 1, exception: 2, progress: 3, pong: 4, endOfStream: 5, profileInfo: 6 } as const;

/** Connects without waiting for an answer. */
export function openNativeSocket({ port, host = '127.0.0.1', tls }: Pick<Options, 'port' | 'host' | 'tls'>) {
  const socket: Socket = tls ? connectTls({ host, port, ...tls }) : connect({ host, port });
  const { read, readVarint, readText, readByte } = createReader(socket);

  async function readException(): Promise<NativeException> {
    const code = (await read(4)).readInt32LE();
    await readText();
    const message = await readText();
    await readText();
    await readByte();
    return new NativeException(code, message);
  }

  async function readBlock(): Promise<Row[]> {
    await readText();
    // The block info: pairs of a number and a value.
    await read(1 + 1 + 1 + 4 + 1);
    const columns = await readVarint();
    const length = await readVarint();
    const rows: Row[] = Array.from({ length }, () => []);
    for (let column = 0; column < columns; column++) {
      await readText();
      const type = await readText();
      for (const row of rows) row.push(await readValue(type));
    }
    return rows;
  }

  async function readValue(type: string): Promise<string | number> {
    if (type === 'String') return readText();
    if (type === 'UInt8') return readByte();
    if (type === 'UInt64') return Number((await read(8)).readBigUInt64LE());
    throw new Error(`the client does not read ${type}`);
  }

  return { socket, read, readVarint, readText, readByte, readException, readBlock };
}

/** Connects and takes the hello of the server. Rejects with `NativeException` if it sends an exception instead. */
export async function connectNative(options: Options) {
  const { socket, ...reader } = openNativeSocket(options);
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  const { port: _, host: __, tls: ___, ...own } = options;
  const hello: Hello = {
    clientName: 'test client',
    major: 24,
    minor: 8,
    revision: REVISION,
    database: '',
    user: 'default',
    password: '',
    ...own,
  };
  socket.write(renderHello(hello));
  const first = await reader.readVarint();
  if (first === PACKETS.exception) throw await reader.readException();
  if (first !== PACKETS.hello) throw new Error(`the server sent packet ${first} instead of its hello`);
  await reader.readText();
  for (let i = 0; i < 3; i++) await reader.readVarint();
  if (hello.revision === REVISION) {
    await reader.readText();
    await reader.readText();
    await reader.readVarint();
  }

  const skipNumbers = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await reader.readVarint();
  };

  /** What is read of a packet, and not used. */
  async function skipPacket(packet: number): Promise<void> {
    if (packet !== PACKETS.progress && packet !== PACKETS.profileInfo)
      throw new Error(`the server sent packet ${packet}`);
    await skipNumbers(3);
    if (packet === PACKETS.progress) return;
    await reader.readByte();
    await skipNumbers(1);
    await reader.readByte();
  }

  /** Reads packets until the last one of an answer, or until `onBlock` returns true. */
  async function readAnswer(onBlock: (rows: Row[]) => boolean): Promise<void> {
    for (;;) {
      const packet = await reader.readVarint();
      if (packet === PACKETS.endOfStream) return;
      if (packet === PACKETS.exception) throw await reader.readException();
      if (packet !== PACKETS.data) await skipPacket(packet);
      else if (onBlock(await reader.readBlock())) return;
    }
  }

  return {
    socket,
    closed,

    async query(sql: string, options: QueryOptions = {}): Promise<Row[]> {
      socket.write(Buffer.concat([renderQuery(sql, options), EMPTY_BLOCK]));
      const rows: Row[] = [];
      await readAnswer((block) => {
        rows.push(...block);
        return false;
      });
      return rows;
    },

    /** Inserts numbers into the column of a table. */
    async insert(table: string, column: string, values: number[]): Promise<void> {
      socket.write(Buffer.concat([renderQuery(`INSERT INTO ${table} (${column}) VALUES`), EMPTY_BLOCK]));
      await readAnswer(() => true);
      socket.write(Buffer.concat([renderBlock(column, values), EMPTY_BLOCK]));
      await readAnswer(() => false);
    },

    async ping(): Promise<void> {
      socket.write(PING);
      const packet = await reader.readVarint();
      if (packet !== PACKETS.pong) throw new Error(`the server sent packet ${packet} instead of a pong`);
    },

    async close(): Promise<void> {
      socket.end();
      socket.resume();
      await closed;
    },
  };
}

const PING = Buffer.from([4]);

interface QueryOptions {
  /** 1: of a client. 2: claims to be sent by another server. */
  kind?: 1 | 2;
  initialUser?: string;
  /** The proof of a server of a cluster; from revision 54441 on. */
  secret?: string;
}

export function renderQuery(sql: string, { kind = 1, initialUser = '', secret }: QueryOptions = {}): Buffer {
  const query = 1;
  const stage = 2;
  const info = [
    renderVarint(kind),
    ...[initialUser, '', '0.0.0.0:0'].map(renderText),
    renderVarint(1),
    ...['', '', 'test client'].map(renderText),
    ...[24, 8, REVISION].map(renderVarint),
    renderText(''),
    renderVarint(0),
  ];
  const settings = renderText('');
  const noCompression = renderVarint(0);
  return Buffer.concat([
    renderVarint(query),
    renderText(''),
    ...info,
    settings,
    ...(secret === undefined ? [] : [renderText(secret)]),
    renderVarint(stage),
    noCompression,
    renderText(sql),
  ]);
}

function renderBlock(column?: string, values: number[] = []): Buffer {
  const data = 2;
  const info = Buffer.from([1, 0, 2, 255, 255, 255, 255, 0]);
  const head = [renderVarint(data), renderText(''), info, renderVarint(column === undefined ? 0 : 1)];
  if (column === undefined) return Buffer.concat([...head, renderVarint(0)]);
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), index * 8);
  return Buffer.concat([...head, renderVarint(values.length), renderText(column), renderText('UInt64'), bytes]);
}

export const EMPTY_BLOCK = renderBlock();

/** Reads the bytes of a connection as they are needed. */
function createReader(socket: Socket) {
  let bytes = Buffer.alloc(0);
  let isEnded = false;
  let failure: Error | undefined;
  let notify = () => {};
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    notify();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  socket.once('close', () => {
    isEnded = true;
    notify();
  });

  async function read(length: number): Promise<Buffer> {
    while (bytes.length < length) {
      if (isEnded) throw failure ?? new Error('the connection was closed');
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
    }
    const taken = bytes.subarray(0, length);
    bytes = bytes.subarray(length);
    return taken;
  }

  const readByte = async (): Promise<number> => (await read(1)).readUInt8();

  async function readVarint(): Promise<number> {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = await readByte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  const readText = async (): Promise<string> => (await read(await readVarint())).toString();

  return { read, readByte, readVarint, readText };
}
