import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../kernel/clock.ts';
import { openLibsql } from './libsql.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { type State, type StoreObserver, unobserved } from './state.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations/state', import.meta.url));

interface Options {
  dataDirectory: string;
  databaseUrl?: string | undefined;
  clock: Clock;
  observer?: StoreObserver;
}

/** Opens the store and brings its schema up to date. */
export async function openState({ dataDirectory, databaseUrl, clock, observer = unobserved }: Options): Promise<State> {
  const state = databaseUrl ? openPostgres(databaseUrl, observer) : openLibsql(join(dataDirectory, 'state.db'), observer);
  try {
    await migrate(state, MIGRATIONS, clock);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}
