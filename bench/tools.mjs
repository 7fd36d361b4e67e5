// Shared by all benchmarks: starting servers, generating load, formatting rows.
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
/** For all files of a run; `run.mjs` removes it. */
export const directory = mkdtempSync(join(tmpdir(), 'pilothouse-bench-'));

/** The server and its baseline are loaded alternately, in this many slices of this length. */
export const SLICES = Number(process.env.BENCH_SLICES ?? 40);
export const SLICE_MS = 250;
/** Repetitions of measurements that take longer than a slice. */
export const ROUNDS = 3;

export const authorization = `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
export const bearer = `Bearer ${token}`;
export const base = `/v1/organizations/${organizationId}`;

export async function startServer(data, args, environment = {}) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', data, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...environment },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void ended.then((code) => reject(new Error(`the server exited with ${code}: serve ${args.join(' ')}`)));
  });
  const { url } = JSON.parse(line);
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

export function formatRequest(method, path, body, headers = { authorization }) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (text) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

let jobCount = 0;

/** Runs `load.mjs`; returns its figures for each target. */
export async function runLoad(targets) {
  const jobFile = join(directory, `job-${jobCount++}.json`);
  const job = { targets: targets.map((target) => ({ expected: '200', ...target })), slices: SLICES, sliceMs: SLICE_MS };
  writeFileSync(jobFile, JSON.stringify(job));
  const { stdout } = await execute(process.execPath, [join(here, 'load.mjs'), jobFile]);
  return JSON.parse(stdout);
}

/** Rates of the server and its baseline in each slice. */
export async function measureRates(server, minimal) {
  const [ours, baseline] = await runLoad([server, minimal]);
  return { ours: ours.perSecond, baseline: baseline.perSecond };
}

export function download(server, path) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    httpRequest(server.url + path, { headers: { authorization } }, (response) => {
      let firstByteMs;
      let bytes = 0;
      response.on('data', (chunk) => {
        firstByteMs ??= performance.now() - startedAt;
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ firstByteMs, bytes, ms: performance.now() - startedAt }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

/** `stop` returns the largest increase of a process's resident memory, in MB. */
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

/** The median of the ratios of all slices: a slow moment of the machine affects both sides of a slice. */
export function ratioRow(name, { ours, baseline }, baselineName, goal) {
  const ratio = median(ours.map((rate, slice) => rate / baseline[slice]));
  return {
    name,
    ours: `${formatThousands(median(ours))}/s`,
    baseline: `${formatThousands(median(baseline))}/s, ${baselineName}`,
    ratio: ratio.toFixed(2),
    goal: goal === undefined ? '' : `≥ ${goal}`,
    isMet: goal === undefined || ratio >= goal,
  };
}

/** A row without a baseline. */
export const figureRow = (name, ours, goal, isMet) => ({ name, ours, baseline: '', ratio: '', goal, isMet });
export const formatThousands = (value) => Math.round(value).toLocaleString('en-US');
