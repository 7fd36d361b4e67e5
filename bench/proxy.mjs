// The endpoint of a service compared with ClickHouse without it, loaded alternately.
//   node bench/proxy.mjs '{"host":"127.0.0.1","port":8123,"headers":{"X-ClickHouse-User":"default"}}'
import { fork } from 'node:child_process';
import { request } from 'node:http';
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
  const { child, port, headers } = await startProxy(upstream);
  const proxied = { host: '127.0.0.1', port, headers };
  try {
    return [
      await rateRow('endpoint of a service, SELECT 1', proxied, upstream, '/?query=SELECT+1'),
      await streamRow(proxied, upstream),
    ];
  } finally {
    child.kill();
  }
}

/** In a process of its own, as the control plane is. */
async function startProxy(upstream) {
  const file = join(directory, 'proxy-process.mjs');
  await build({
    input: join(here, 'proxy-process.mjs'),
    platform: 'node',
    output: { file, format: 'esm' },
    logLevel: 'silent',
  });
  const child = fork(file);
  child.send(upstream);
  const message = await new Promise((resolve) => child.once('message', resolve));
  return { child, ...message };
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

async function streamRow(proxied, upstream) {
  const ours = [];
  const baseline = [];
  for (let round = 0; round < STREAM_ROUNDS; round++) {
    ours.push(await measureStream(proxied));
    baseline.push(await measureStream(upstream));
  }
  const ratio = median(ours.map((rate, round) => rate / baseline[round]));
  return {
    name: 'endpoint of a service, a response of 100 MB',
    ours: `${formatThousands(median(ours))} MB/s`,
    baseline: `${formatThousands(median(baseline))} MB/s, ClickHouse alone`,
    ratio: ratio.toFixed(2),
    goal: '≥ 0.95',
    isMet: ratio >= 0.95,
  };
}

/** MB per second. */
function measureStream({ host, port, headers }) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    request({ host, port, path: STREAM_PATH, headers, agent: false }, (response) => {
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
