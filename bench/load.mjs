// The load generator, a separate process: keep-alive connections over raw sockets, one request in flight on each.
// Raw sockets cost a fraction of an HTTP client, so that the generator is not the bottleneck.
// Several targets are loaded alternately, a fraction of a second each, so that a slow moment of the machine affects all of them.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { openCommitLoop } from './baseline-commits.mjs';
import { openPostgresCommits } from './baseline-postgres-commits.mjs';

/**
 * `beside`: loads the same server at the same time and is not measured.
 * @typedef {{ port: number, connections: number, requests: string[], expected: string, perSecond?: number }} Load
 * @typedef {Load & { beside?: Load } | { commitsIn: string } | { postgresCommits: object }} Target
 * @type {{ targets: Target[], slices: number, sliceMs: number }}
 */
const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));

/** Slices that are not counted, while code is compiled and caches fill. */
const WARM_UP_SLICES = 3;

/**
 * Undefined until the whole head has arrived, and with it the whole body of a response in chunks. `missingBytes`: the length
 * of the body that has not arrived yet.
 */
function parseHead(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const isChunked = /transfer-encoding: chunked/i.test(text.slice(0, end));
  if (isChunked) return text.endsWith('\r\n0\r\n\r\n') ? { status: text.slice(9, 12), missingBytes: 0 } : undefined;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
  return { status: text.slice(9, 12), missingBytes: length - (text.length - end - 4) };
}

/** `runFor` loads a server for a while and returns the latency of each response in ms. */
async function openConnections({ port, connections, requests, expected, perSecond }) {
  const texts = requests.map((text) => Buffer.from(text, 'latin1'));
  const pauseMs = perSecond ? (connections * 1000) / perSecond : 0;
  let next = 0;
  let latencies = [];
  let endAt = 0;

  function openConnection() {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let head = '';
    let missingBytes = -1;
    let sentAt = 0;
    let done;
    let failed;

    const send = () => {
      if (performance.now() >= endAt) return done();
      sentAt = performance.now();
      socket.write(texts[next++ % texts.length]);
    };
    const finish = () => {
      const took = performance.now() - sentAt;
      latencies.push(took);
      missingBytes = -1;
      head = '';
      if (pauseMs > took) setTimeout(send, pauseMs - took);
      else send();
    };
    socket.on('error', (error) => failed?.(error));
    socket.on('data', (chunk) => {
      if (missingBytes > 0) {
        missingBytes -= chunk.length;
        if (missingBytes === 0) finish();
        return;
      }
      head += chunk.toString('latin1');
      const response = parseHead(head);
      if (!response) return;
      if (response.status !== expected) return failed(new Error(`unexpected response: ${head}`));
      missingBytes = response.missingBytes;
      if (missingBytes <= 0) finish();
    });
    return {
      ready: new Promise((resolve) => socket.once('connect', resolve)),
      run: () =>
        new Promise((resolve, reject) => {
          done = resolve;
          failed = reject;
          send();
        }),
      close: () => socket.destroy(),
    };
  }

  const opened = Array.from({ length: connections }, openConnection);
  await Promise.all(opened.map(({ ready }) => ready));
  return {
    async runFor(ms) {
      latencies = [];
      endAt = performance.now() + ms;
      await Promise.all(opened.map(({ run }) => run()));
      return latencies;
    },
    close() {
      for (const connection of opened) connection.close();
    },
  };
}

function openTarget(target) {
  if (target.commitsIn) return openCommitLoop(target.commitsIn);
  if (target.postgresCommits) return openPostgresCommits(target.postgresCommits);
  return target.beside ? openBoth(target) : openConnections(target);
}

async function openBoth({ beside, ...target }) {
  const [measured, other] = await Promise.all([openConnections(target), openConnections(beside)]);
  return {
    async runFor(ms) {
      const [latencies] = await Promise.all([measured.runFor(ms), other.runFor(ms)]);
      return latencies;
    },
    close() {
      measured.close();
      other.close();
    },
  };
}

const targets = await Promise.all(job.targets.map(openTarget));
const measured = targets.map(() => ({ perSecond: [], latencies: [] }));
for (let slice = 0; slice < WARM_UP_SLICES + job.slices; slice++) {
  for (const [index, target] of targets.entries()) {
    const startedAt = performance.now();
    const latencies = await target.runFor(job.sliceMs);
    const seconds = (performance.now() - startedAt) / 1000;
    if (slice < WARM_UP_SLICES) continue;
    measured[index].perSecond.push(latencies.length / seconds);
    for (const latency of latencies) measured[index].latencies.push(latency);
  }
}
for (const target of targets) target.close();
const result = measured.map(({ perSecond, latencies }) => {
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { perSecond, p50: quantile(0.5), p99: quantile(0.99) };
});
console.log(JSON.stringify(result));
