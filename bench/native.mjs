// The native protocol: an answer of 100 MB through the endpoint of a service, and from ClickHouse directly.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { directory, formatThousands, median } from './tools.mjs';

const ROUNDS = 9;
const BYTES = 100_000_000;
/** Numbers of 8 bytes that are 0, so that they never look like the end of the answer. */
const STATEMENT = `SELECT materialize(toUInt64(0)) FROM numbers(${BYTES / 8})`;
/** The last packet of an answer, of one byte. */
const END_OF_STREAM = 5;

/** The client of the tests, which is TypeScript. */
async function loadClient() {
  const file = join(directory, 'native-client.mjs');
  const input = join(import.meta.dirname, '../test/support/native-client.ts');
  await build({ input, platform: 'node', output: { file, format: 'esm' }, logLevel: 'silent' });
  return import(pathToFileURL(file).href);
}

/** MB per second of one answer. Counts bytes only: a client that reads values is slower than both sides. */
async function measureAnswer({ connectNative, renderQuery, EMPTY_BLOCK }, address) {
  const { socket } = await connectNative(address);
  socket.removeAllListeners('data');
  const startedAt = performance.now();
  try {
    return await new Promise((resolve, reject) => {
      let bytes = 0;
      socket.once('close', () => reject(new Error(`the connection was closed after ${bytes} bytes`)));
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > BYTES && chunk.at(-1) === END_OF_STREAM) resolve(bytes / 1000 / (performance.now() - startedAt));
      });
      socket.write(Buffer.concat([renderQuery(STATEMENT), EMPTY_BLOCK]));
    });
  } finally {
    socket.destroy();
  }
}

/** `endpoint` and `direct`: port and, with one, password. */
export async function nativeRow(endpoint, direct) {
  const client = await loadClient();
  const [ours, baseline] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await measureAnswer(client, endpoint));
    baseline.push(await measureAnswer(client, direct));
  }
  const ratio = median(ours.map((rate, round) => rate / baseline[round]));
  return {
    name: 'native protocol, an answer of 100 MB',
    ours: `${formatThousands(median(ours))} MB/s`,
    baseline: `${formatThousands(median(baseline))} MB/s, ClickHouse alone`,
    ratio: ratio.toFixed(2),
    goal: '',
    isMet: true,
  };
}
