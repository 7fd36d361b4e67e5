// The load, in a process of its own: keep-alive connections over raw sockets, one request in flight on each.
// Plain sockets cost a fraction of an HTTP client, so that the generator is not what is measured.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/** @type {{ port: number, connections: number, seconds: number, requests: string[], perSecond?: number }} */
const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const requests = job.requests.map((text) => Buffer.from(text, 'latin1'));

const latencies = [];
const statuses = {};
let next = 0;
let bytes = 0;
const endAt = performance.now() + job.seconds * 1000;
const pauseMs = job.perSecond ? (job.connections * 1000) / job.perSecond : 0;

function worker() {
  return new Promise((resolve, reject) => {
    const socket = connect(job.port, '127.0.0.1');
    socket.setNoDelay(true);
    let head = '';
    let missing = -1;
    let startedAt = 0;

    const send = () => {
      if (performance.now() >= endAt) {
        socket.end();
        return resolve();
      }
      startedAt = performance.now();
      socket.write(requests[next++ % requests.length]);
    };
    const finished = () => {
      const took = performance.now() - startedAt;
      latencies.push(took);
      missing = -1;
      head = '';
      if (pauseMs > took) setTimeout(send, pauseMs - took);
      else send();
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (missing > 0) {
        missing -= chunk.length;
        if (missing === 0) finished();
        return;
      }
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const status = head.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const length = Number(/content-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
      missing = length - (head.length - end - 4);
      if (missing <= 0) finished();
    });
  });
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: job.connections }, worker));
const seconds = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
console.log(
  JSON.stringify({ perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), max: at(1), bytes, statuses }),
);
