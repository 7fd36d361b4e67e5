import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';

const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;

/** Opens a transaction that locks the same rows; resolves with a function that ends it. */
async function lockStore({ databaseUrl, directory }: TestServer): Promise<() => Promise<void>> {
  if (databaseUrl === undefined) {
    const database = new Database(join(directory, 'data', 'state.db'));
    database.pragma('busy_timeout = 5000');
    database.exec('BEGIN IMMEDIATE');
    return async () => {
      database.exec('ROLLBACK');
      database.close();
    };
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT id FROM organizations FOR UPDATE');
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

onEachStore('a store locked by another program', (store) => {
  const server = useServer(store);
  const reason =
    store === 'postgres' ? 'another change or program has locked the data' : 'another program has locked the database';
  const rescale = (numReplicas: number) =>
    server.call({ method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas } });
  const read = () => server.call({ path: service, key: acme.admin });

  it('B3: changes wait for a short lock and succeed; reads do not wait', async () => {
    const release = await lockStore(server);
    const waiting = rescale(6);
    expect((await read()).json.result.numReplicas).toBe(3);
    // Reads are served while the change waits.
    for (let reads = 0; reads < 5; reads++) expect((await read()).json.result.numReplicas).toBe(3);
    await release();
    const { status, json } = await waiting;
    expect([status, json.result?.numReplicas]).toEqual([200, 6]);
  });

  it('B3: reads do not wait for many changes that wait for a lock', async () => {
    const release = await lockStore(server);
    const create = (index: number) =>
      server.call({
        method: 'POST',
        path: `/v1/organizations/${acme.id}/keys`,
        key: acme.admin,
        body: { name: `waiting ${index}`, roles: ['developer'] },
      });
    const waiting = Array.from({ length: 30 }, (_, index) => create(index));
    for (let reads = 0; reads < 5; reads++) expect((await read()).status).toBe(200);
    await release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 200));
  });

  it('B3: changes that wait too long return 503, reads continue, and later changes succeed', async () => {
    const release = await lockStore(server);
    const responses = await Promise.all([rescale(7), rescale(8)]);
    expect((await read()).json.result.numReplicas).toBe(6);
    await release();
    for (const response of responses) {
      expectFailure(service, response, 503);
      expect(response.json.error).toBe(`SERVICE_UNAVAILABLE: The state store is not available: ${reason}`);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect((await rescale(9)).json.result?.numReplicas).toBe(9);
  });
});
