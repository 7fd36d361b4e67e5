import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, vi } from 'vitest';
import type { Json } from './client.ts';
import { createDatabase } from './postgres.ts';
import { PROGRAM, type StoreName, type TestServer } from './server.ts';

// Each command is a process of its own, a second or more where others share the machine.
vi.setConfig({ testTimeout: 120_000 });

/** A command that hangs must not outlive its test. */
const LONGEST_RUN_MS = 60_000;

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built program to its end. */
export function cli(args: string[], environment: Record<string, string> = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONGEST_RUN_MS,
      killSignal: 'SIGKILL',
    });
    const finished: Finished = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      finished.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      finished.stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...finished, code }));
  });
}

/** Each `error: …` line, without that word. */
export const errorsOf = ({ stderr }: Finished): string[] =>
  stderr.split('\n').flatMap((line) => (line.startsWith('error: ') ? [line.slice(7)] : []));

export type { Json };

/** The command line on one store. */
interface TestStore {
  directory: string;
  args: string[];
  run(...args: string[]): Promise<Finished>;
  /** `apply` of this file: an object as JSON, a text as it is. */
  apply(fleet: object | string, ...flags: string[]): Promise<Finished>;
  /** What `apply` did, without what stayed: `add service analytics`. Must succeed. */
  plan(fleet: object | string, ...flags: string[]): Promise<string[]>;
  /** The first organization of `export`; must succeed. */
  exported(): Promise<Json>;
}

export function storeAt(directory: string, databaseUrl: string | undefined): TestStore {
  const args = ['--data', join(directory, 'data'), ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
  const store: TestStore = {
    directory,
    args,
    run: (...command) => cli([...command, ...args]),
    apply(fleet, ...flags) {
      const path = join(directory, 'applied.yaml');
      writeFileSync(path, typeof fleet === 'string' ? fleet : JSON.stringify(fleet));
      return store.run('apply', path, ...flags);
    },
    async plan(fleet, ...flags) {
      const { code, stdout, stderr } = await store.apply(fleet, '--json', ...flags);
      expect(code, stderr).toBe(0);
      const { steps }: { steps: { action: string; kind: string; name: string }[] } = JSON.parse(stdout);
      return steps
        .filter(({ action }) => action !== 'unchanged')
        .map(({ action, kind, name }) => `${action} ${kind} ${name}`);
    },
    async exported() {
      const { code, stdout, stderr } = await store.run('export', '--json');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout).organizations[0];
    },
  };
  return store;
}

/** The command line on the store of a running server. */
export const storeOf = ({ directory, databaseUrl }: TestServer): TestStore => storeAt(directory, databaseUrl);

/** An empty store for each test of the surrounding `describe`; use it inside tests and hooks only. */
export function useStore(store: StoreName): TestStore {
  let current: TestStore | undefined;
  let remove = async () => {};
  beforeEach(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
    current = storeAt(directory, database?.url);
    remove = async () => {
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterEach(() => remove());
  return new Proxy({} as TestStore, { get: (_, name) => Reflect.get(current ?? {}, name) });
}
