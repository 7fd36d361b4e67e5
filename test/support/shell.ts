import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './client.ts';
import { PROGRAM } from './server.ts';

/** A call of curl: its arguments and the response. */
interface CurlCall {
  args: string;
  json: Json;
}

interface FinishedScript {
  code: number | null;
  output: string;
  calls: CurlCall[];
}

/** A directory in which `pilothouse` is the built program and every call of `curl` is recorded. */
export interface Shell {
  directory: string;
  /** Runs bash until it exits. A failed command, or an HTTP status of 400 or more, ends the script. */
  run(script: string): Promise<FinishedScript>;
  /** Starts a server and waits for its ready line, then stops it and resolves with the line and the exit code. */
  startAndStop(command: string): Promise<{ ready: Json; code: number | null; errors: string }>;
  remove(): void;
}

/** Passes its arguments on, and stores them next to the response. */
const RECORDING_CURL = `#!/bin/bash
call="$CALLS/$(printf %04d "$(ls "$CALLS" | wc -l)")"
printf '%s\\n' "$*" > "$call.args"
PATH="$REAL_PATH" curl -sS --fail-with-body "$@" > "$call.body"
code=$?
cat "$call.body"
exit $code
`;

export function createShell(): Shell {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-docs-'));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const install = (name: string, text: string) => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  install('pilothouse', `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  install('curl', RECORDING_CURL);
  const start = (script: string, calls = directory) =>
    spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      env: { PATH: `${bin}:${process.env.PATH}`, REAL_PATH: process.env.PATH, CALLS: calls, HOME: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  return {
    directory,

    run(script) {
      const calls = mkdtempSync(join(directory, 'calls-'));
      const child = start(script, calls);
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      return new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, output, calls: readCalls(calls) }));
      });
    },

    async startAndStop(command) {
      const child = start(`exec ${command}`);
      let [line, errors] = ['', ''];
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errors += text;
      });
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      const ready = new Promise<void>((resolve) => {
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          line += text;
          if (line.includes('\n')) resolve();
        });
      });
      await Promise.race([ready, ended]);
      child.kill('SIGTERM');
      const code = await ended;
      return { ready: line === '' ? undefined : JSON.parse(line.split('\n')[0] ?? ''), code, errors };
    },

    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** ClickHouse answers with text. */
function parseBody(body: string): Json {
  if (!/^[{[]/.test(body)) return { text: body.trim() };
  try {
    return JSON.parse(body);
  } catch {
    // Lines of JSON.
    return { text: body.trim() };
  }
}

function readCalls(directory: string): CurlCall[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.args'))
    .sort()
    .map((name) => {
      const read = (file: string) => readFileSync(join(directory, file), 'utf8');
      return { args: read(name).trim(), json: parseBody(read(name.replace('.args', '.body'))) };
    });
}
