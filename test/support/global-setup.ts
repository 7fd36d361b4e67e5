import type { TestProject } from 'vitest/node';
import { openPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One PostgreSQL for the whole run. Where there is none, its tests count as skipped and this says so. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await openPostgres();
  if (!postgres) console.warn('\nPostgreSQL is not installed and could not be: the tests on PostgreSQL are skipped.\n');
  project.provide('postgresUrl', postgres?.url ?? '');
  return async () => postgres?.remove();
}
