import { readSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { confine, endWithParent } from './landlock.ts';
import type { StartMessage, StartReport } from './messages.ts';
import { loadNative } from './native.ts';
import { attachTerminal } from './terminal.ts';

// The process of one embedded service: ClickHouse with its own listeners. It ends with the control plane and ignores
// signals: Ctrl+C and service managers signal all processes, and the control plane ends this one when it has flushed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const MAX_MESSAGE_BYTES = 64 * 1024;

const LISTEN_NATIVE = 'SYSTEM START LISTEN TCP';
/** Last: the control plane waits for an answer to HTTP. */
const LISTEN_HTTP = 'SYSTEM START LISTEN HTTP';
/** Keeps ClickHouse running. It may sleep 3 seconds per block. */
const STAY = 'SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null';

/** ClickHouse's threads are running, so an orderly exit could crash. Stored data is safe. */
const end = () => process.kill(process.pid, 'SIGKILL');

run(readMessage()).catch((error: Error) => {
  writeSync(2, `${error.message}\n`);
  end();
});

/** Reads the first line of standard input, which the control plane sends at once. */
function readMessage(): StartMessage {
  const buffer = Buffer.alloc(MAX_MESSAGE_BYTES);
  let length = 0;
  while (!buffer.subarray(0, length).includes('\n')) {
    const bytes = readSync(0, buffer, length, buffer.length - length, null);
    if (bytes === 0) end();
    length += bytes;
  }
  return JSON.parse(buffer.toString('utf8', 0, length));
}

async function run(message: StartMessage): Promise<void> {
  const native = loadNative(message.library);
  endWithParent(native);
  const input = attachTerminal(native);
  const nativePort = input === undefined ? undefined : message.nativePort;
  const hasNative = nativePort !== undefined;
  const report: StartReport = { isolation: await confine(native, { ...message, nativePort }), hasNative };
  writeSync(1, `${JSON.stringify(report)}\n`);
  const mode = input === undefined ? [] : ['--interactive', '--progress=off'];
  const statements = [...(hasNative ? [LISTEN_NATIVE] : []), LISTEN_HTTP, STAY].join('; ');
  const ended = native.runClickHouse(['clickhouse', ...mode, '--query', statements, ...message.arguments]);
  // Opening the stream takes 10 ms, during which ClickHouse is starting.
  const stream = input === undefined ? process.stdin : new Socket({ fd: input, readable: true, writable: false });
  stream.on('end', end).resume();
  await ended;
  throw new Error('ClickHouse ended');
}
