import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { toFileError } from './failures.ts';
import { migrate } from './migrate.ts';
import { migrationsFolder } from './migrations-folder.ts';
import { type State, type StoreObserver, unobserved } from './state.ts';

interface Options {
  dataDirectory: string;
  databaseUrl?: string | undefined;
  clock: Clock;
  observer?: StoreObserver;
}

/** Opens the store and migrates its schema. Must be closed. */
export async function openState({ dataDirectory, databaseUrl, clock, observer = unobserved }: Options): Promise<State> {
  // Only the driver that is used is loaded.
  if (databaseUrl) {
    const { openPostgres } = await import('./postgres.ts');
    return openMigrated(() => openPostgres(databaseUrl, observer), clock);
  }
  const path = join(dataDirectory, 'state.db');
  const { openLibsql } = await import('./libsql.ts');
  try {
    return await openMigrated(() => openLibsql(path, clock, observer), clock);
  } catch (error) {
    throw toFileError(error, path);
  }
}

async function openMigrated(connect: () => State | Promise<State>, clock: Clock): Promise<State> {
  const state = await connect();
  try {
    await migrate(state, migrationsFolder(), clock);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}
