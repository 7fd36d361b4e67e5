import { rolldown } from 'rolldown';

/** The PostgreSQL server of the tests. Undefined if PostgreSQL is not installed. */
export async function openPostgres() {
  const bundle = await rolldown({ input: 'test/support/postgres.ts', platform: 'node', external: /^pg$/ });
  await bundle.write({ file: 'dist/bench-postgres.js', format: 'esm' });
  await bundle.close();
  return (await import('../dist/bench-postgres.js')).openPostgres();
}

/** Returns the arguments of the server. */
export async function createDatabase(url, name) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  return ['--database-url', address.href];
}

/** For the names of rows that exist for both stores. */
export const nameStore = (store) => (store === 'libSQL' ? '' : `, ${store}`);

/**
 * The rows of `measure(store, createStore)` for libSQL, and for PostgreSQL if it is installed. `createStore` creates an empty
 * store and returns the arguments of the server.
 */
export async function measureStores(measure) {
  const postgres = await openPostgres();
  try {
    return [
      ...(await measure('libSQL', () => [])),
      ...(postgres ? await measure('PostgreSQL', (name) => createDatabase(postgres.url, name)) : []),
    ];
  } finally {
    await postgres?.remove();
  }
}
