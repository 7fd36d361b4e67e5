// The endpoint of a service compared with ClickHouse without it, loaded alternately.
//   node bench/proxy.mjs '{"host":"127.0.0.1","port":8123,"headers":{"X-ClickHouse-User":"default"}}'
import { fork } from 'node:child_process';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { directory, formatThousands, measureRates, median, ratioRow } from './tools.mjs';

const here = import.meta.dirname;
const CONNECTIONS = 8;
const STREAM_ROUNDS = 9;
/** 12.5 million numbers of 8 bytes. */
const STREAM_PATH = '/?query=SELECT+number+FROM+numbers(12500000)+FORMAT+RowBinary';

/** `upstream`: a ClickHouse server and the headers that it needs, as in `src/management/services/driver.ts`. */
export async function proxyRows(upstream) {
  const plain = await startProxy({ upstream, isEncrypted: false });
  const encrypted = await startProxy({ upstream, isEncrypted: true });
  try {
    return [
      await rateRow('endpoint of a service, SELECT 1', plain, upstream, '/?query=SELECT+1'),
      await streamRow('endpoint of a service, a response of 100 MB', plain, upstream, 'ClickHouse alone', 0.95),
      await streamRow('endpoint with TLS, a response of 100 MB', encrypted, plain, 'the endpoint without TLS', 0.8),
    ];
  } finally {
    plain.child.kill();
    encrypted.child.kill();
  }
}

/** In a process of its own, as the control plane is. */
async function startProxy(options) {
  const file = join(directory, 'proxy-process.mjs');
  await build({
    input: join(here, 'proxy-process.mjs'),
    platform: 'node',
    output: { file, format: 'esm' },
    logLevel: 'silent',
  });
  const child = fork(file);
  child.send(options);
  const message = await new Promise((resolve) => child.once('message', resolve));
  return { child, host: '127.0.0.1', ...message };
}

async function rateRow(name, proxied, upstream, path) {
  const toLoad = ({ port, headers }) => {
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
    return {
      port,
      connections: CONNECTIONS,
      requests: [`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`],
    };
  };
  return ratioRow(name, await measureRates(toLoad(proxied), toLoad(upstream)), 'ClickHouse alone', 0.85);
}

async function streamRow(name, proxied, other, otherName, goal) {
  const ours = [];
  const baseline = [];
  for (let round = 0; round < STREAM_ROUNDS; round++) {
    ours.push(await measureStream(proxied));
    baseline.push(await measureStream(other));
  }
  const ratio = median(ours.map((rate, round) => rate / baseline[round]));
  return {
    name,
    ours: `${formatThousands(median(ours))} MB/s`,
    baseline: `${formatThousands(median(baseline))} MB/s, ${otherName}`,
    ratio: ratio.toFixed(2),
    goal: `≥ ${goal}`,
    isMet: ratio >= goal,
  };
}

/** MB per second. */
function measureStream({ host, port, headers, ca }) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const send = ca === undefined ? request : requestTls;
    send({ host, port, path: STREAM_PATH, headers, ca, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk) => {
        bytes += chunk.length;
      });
      response.once('error', reject);
      response.once('end', () => {
        if (bytes === 100_000_000) resolve(bytes / 1000 / (performance.now() - startedAt));
        else reject(new Error(`received ${bytes} bytes with status ${response.statusCode}`));
      });
    })
      .once('error', reject)
      .end();
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const { name, ours, baseline, ratio, goal } of await proxyRows(JSON.parse(process.argv[2])))
    console.log(`${name}: ${ours} (${baseline}); ratio ${ratio}, goal ${goal}`);
