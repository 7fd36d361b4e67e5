import type { TestProject } from 'vitest/node';
import { findChromium } from '../../tools/chromium.mjs';
import { openPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Empty where there is no browser. */
    chromiumPath: string;
  }
}

/** One PostgreSQL for the whole run, and the system's browser. Where one is missing, its tests count as skipped and this says so. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await openPostgres();
  if (!postgres) console.warn('\nPostgreSQL is not installed and could not be: the tests on PostgreSQL are skipped.\n');
  project.provide('postgresUrl', postgres?.url ?? '');
  const chromiumPath = findChromium();
  if (chromiumPath === '')
    console.warn('\nChromium is not installed and could not be: the tests of the console are skipped.\n');
  project.provide('chromiumPath', chromiumPath);
  return async () => postgres?.remove();
}
