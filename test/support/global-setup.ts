import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { openState } from '../../src/platform/state/open.ts';
import { findChromium } from '../../tools/chromium.mjs';
import { createDatabase, MIGRATED, openPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    secretsKeyFile: string;
    /** Empty if no browser is installed. */
    chromiumPath: string;
  }
}

/** Starts one PostgreSQL for the whole run and finds the browser. Prints a warning if one is missing; its tests are skipped. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-keys-'));
  const secretsKeyFile = join(directory, 'secrets.key');
  project.provide('secretsKeyFile', secretsKeyFile);
  const postgres = await openPostgres();
  if (!postgres) console.warn('\nPostgreSQL is not installed: the tests on PostgreSQL are skipped.\n');
  if (postgres) await migrate(postgres.url, secretsKeyFile);
  project.provide('postgresUrl', postgres?.url ?? '');
  const chromiumPath = findChromium();
  if (chromiumPath === '') console.warn('\nChromium is not installed: the console tests are skipped.\n');
  project.provide('chromiumPath', chromiumPath);
  return async () => {
    await postgres?.remove();
    rmSync(directory, { recursive: true, force: true });
  };
}

async function migrate(maintenanceUrl: string, secretsKeyFile: string): Promise<void> {
  const { url } = await createDatabase(maintenanceUrl, { name: MIGRATED });
  const state = await openState({ dataDirectory: tmpdir(), databaseUrl: url, secretsKeyFile, clock: systemClock });
  // A server on a copy of the database may have its own key.
  await state.write((tx) => tx.deleteFrom('secret_keys').execute());
  await state.close();
}
