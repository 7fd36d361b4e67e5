import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject } from 'vitest';
import type { Json } from './client.ts';
import { type FinishedCommand, runInProcess } from './in-process.ts';
import { createDatabase, MIGRATED } from './postgres.ts';
import { withSecretsKey } from './secrets-key.ts';
import { PROGRAM, type StoreName, type TestServer } from './server.ts';

/** A hanging command is killed before its test times out. */
const MAX_RUN_MS = 120_000;

/**
 * Runs a command. `serve` and `demo` run in their own process; the others run in the test process, which takes a tenth of
 * the time. Their log lines are not part of `stderr`.
 */
export function cli(args: string[], environment: Record<string, string> = {}): Promise<FinishedCommand> {
  return args[0] === 'serve' || args[0] === 'demo'
    ? cliProcess(args, environment)
    : runInProcess(args, environment).finished;
}

/** Runs the built program until it exits. */
export function cliProcess(args: string[], environment: Record<string, string> = {}): Promise<FinishedCommand> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH: process.env.PATH, ...withSecretsKey(environment) },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_RUN_MS,
      killSignal: 'SIGKILL',
    });
    const finished: FinishedCommand = { code: null, stdout: '', stderr: '' };
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

/** The `error: …` lines, without the prefix. */
export const listErrors = ({ stderr }: FinishedCommand): string[] =>
  stderr.split('\n').flatMap((line) => (line.startsWith('error: ') ? [line.slice(7)] : []));

export type { Json };

/** Runs commands on one store. */
interface TestStore {
  directory: string;
  args: string[];
  run(...args: string[]): Promise<FinishedCommand>;
  /** Applies a fleet file: an object as JSON, or its text. */
  apply(fleet: object | string, ...flags: string[]): Promise<FinishedCommand>;
  /** The changes that `apply` made, such as `add service analytics`. Must succeed. */
  plan(fleet: object | string, ...flags: string[]): Promise<string[]>;
  /** The first organization of `export`; must succeed. */
  exportFirstOrganization(): Promise<Json>;
}

export function createTestStore(
  directory: string,
  databaseUrl: string | undefined,
  { inProcess }: { inProcess: boolean },
): TestStore {
  const args = ['--data', join(directory, 'data'), ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
  const store: TestStore = {
    directory,
    args,
    run: (...command) => (inProcess ? cli : cliProcess)([...command, ...args]),
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
    async exportFirstOrganization() {
      const { code, stdout, stderr } = await store.run('export', '--json');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout).organizations[0];
    },
  };
  return store;
}

/** Runs commands on the store of a running server. */
export const getServerStore = ({ directory, databaseUrl, inProcess }: TestServer): TestStore =>
  createTestStore(directory, databaseUrl, { inProcess });

interface StoreOptions {
  /** False if a server process opens the store too. */
  inProcess?: boolean;
  /** Whether the store may have its tables already, which takes less time than to migrate it. */
  isMigrated?: boolean;
}

/** An empty store for each test of the surrounding `describe`; use it inside tests and hooks only. */
export function useStore(store: StoreName, { inProcess = true, isMigrated = true }: StoreOptions = {}): TestStore {
  let current: TestStore | undefined;
  let remove = async () => {};
  beforeEach(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const template = isMigrated ? { template: MIGRATED } : {};
    const database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), template) : undefined;
    current = createTestStore(directory, database?.url, { inProcess });
    remove = async () => {
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterEach(() => remove());
  return new Proxy({} as TestStore, { get: (_, name) => Reflect.get(current ?? {}, name) });
}
