// What every measurement needs: servers, load, figures.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { key, organizationId, token } from './fleet.mjs';

const here = import.meta.dirname;
export const execute = promisify(execFile);
export const program = join(here, '../dist/main.js');
/** Everything that a run writes; whoever runs it removes it. */
export const directory = mkdtempSync(join(tmpdir(), 'pilothouse-bench-'));

/** The server and its floor are loaded in turn, so often and so long each time. */
export const SLICES = Number(process.env.BENCH_SLICES ?? 40);
export const SLICE_MS = 250;
/** What takes longer than a slice. */
export const ROUNDS = 3;

export const authorization = `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
export const bearer = `Bearer ${token}`;
export const base = `/v1/organizations/${organizationId}`;

export async function startServer(data, args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', data, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const { url } = JSON.parse(line);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

export function request(method, path, body, headers = { authorization }) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (text) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

let jobs = 0;

/** What `load.mjs` measured of each target. */
export async function load(targets) {
  const jobFile = join(directory, `job-${jobs++}.json`);
  const job = { targets: targets.map((target) => ({ expected: '200', ...target })), slices: SLICES, sliceMs: SLICE_MS };
  writeFileSync(jobFile, JSON.stringify(job));
  const { stdout } = await execute(process.execPath, [join(here, 'load.mjs'), jobFile]);
  return JSON.parse(stdout);
}

/** Rates of the server and its floor, turn by turn. */
export async function inTurn(server, bare) {
  const [ours, floor] = await load([server, bare]);
  return { ours: ours.perSecond, floor: floor.perSecond };
}

export function download(server, path) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    httpRequest(server.url + path, { headers: { authorization } }, (answer) => {
      let firstByteMs;
      let bytes = 0;
      answer.on('data', (chunk) => {
        firstByteMs ??= performance.now() - startedAt;
        bytes += chunk.length;
      });
      answer.on('end', () => resolve({ firstByteMs, bytes, ms: performance.now() - startedAt }));
      answer.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

/** How much the resident memory of a process grows, at most, until `stop`. */
export function watchMemory(pid) {
  const before = residentMb(pid);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid));
  }, 20);
  return {
    stop() {
      clearInterval(timer);
      return Math.round(peak - before);
    },
  };
}

export const residentMb = (pid) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The median of the ratios of the turns: a slow moment of the machine slows both sides of a turn. */
export function ratioRow(name, { ours, floor }, floorName, goal) {
  const ratio = median(ours.map((rate, turn) => rate / floor[turn]));
  return {
    name,
    ours: `${thousands(median(ours))}/s`,
    floor: `${thousands(median(floor))}/s, ${floorName}`,
    ratio: ratio.toFixed(2),
    goal: `≥ ${goal}`,
    isReached: ratio >= goal,
  };
}

export const measured = (name, ours, goal, isReached) => ({ name, ours, floor: '', ratio: '', goal, isReached });
export const thousands = (value) => Math.round(value).toLocaleString('en-US');
