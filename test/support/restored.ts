import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createTestStore } from './cli.ts';
import { createClient } from './client.ts';
import { createDatabase } from './postgres.ts';
import { run, type StoreName, serveInProcess } from './server.ts';

/** An empty store and engine to restore or move to. The caller must remove it. Its commands can run in the test process unless a server process opens it, or a libSQL file is replaced. */
export async function createTarget(store: StoreName, { inProcess } = { inProcess: false }) {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-target-'));
  const database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
  return {
    ...createTestStore(directory, database?.url, { inProcess }),
    databaseUrl: database?.url,
    async remove() {
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type Target = Awaited<ReturnType<typeof createTarget>>;

/** Starts a server that writes nothing of its own. */
export async function serveQuietly(args: readonly string[], { inProcess } = { inProcess: false }) {
  const running = await (inProcess ? serveInProcess : run)([
    'serve',
    '--port',
    '0',
    '--rate-limit',
    'off',
    '--telemetry',
    'off',
    ...args,
  ]);
  return { ...running, call: createClient(() => running) };
}
