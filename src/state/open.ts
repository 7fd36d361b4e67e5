import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
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
  const state = await connect(dataDirectory, databaseUrl, observer);
  try {
    await migrate(state, migrationsFolder(), clock);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}

/** Loads only the driver that is used. */
async function connect(
  dataDirectory: string,
  databaseUrl: string | undefined,
  observer: StoreObserver,
): Promise<State> {
  if (databaseUrl) return (await import('./postgres.ts')).openPostgres(databaseUrl, observer);
  return (await import('./libsql.ts')).openLibsql(join(dataDirectory, 'state.db'), observer);
}
