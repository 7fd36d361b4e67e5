// The baseline for changes on PostgreSQL: the same rows read, changed and added in transactions of many connections at once,
// each for a service of its own.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import pg from 'pg';

const SELECT = 'SELECT * FROM services WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE';
const UPDATE = 'UPDATE services SET document = $3 WHERE organization_id = $1 AND id = $2';
const INSERT = `INSERT INTO baseline_activities
  (organization_id, id, created_at, document, type, actor_id, actor_name, resource_id, sequence, hash)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** `runFor` returns the duration of each transaction in ms. */
export async function openPostgresCommits({ url, connections, organizationId, serviceIds }) {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0].query('CREATE TABLE IF NOT EXISTS baseline_activities (LIKE activities INCLUDING ALL)');
  const text = JSON.stringify({ text: 'x'.repeat(400) });
  let sequence = 0;

  async function commit(client, serviceId) {
    const run = (name, statement, values) => client.query({ name, text: statement, values });
    await client.query('BEGIN');
    const { rows } = await run('select', SELECT, [organizationId, serviceId]);
    await run('update', UPDATE, [organizationId, serviceId, rows[0].document]);
    const [now, id] = [Date.now(), randomUUID()];
    const hash = id.replaceAll('-', '').repeat(2);
    const values = [organizationId, id, now, text, 'service_scaling', id, 'bench', serviceId, sequence++, hash];
    await run('insert', INSERT, values);
    await client.query('COMMIT');
  }

  return {
    async runFor(ms) {
      const latencies = [];
      const endAt = performance.now() + ms;
      await Promise.all(
        clients.map(async (client, index) => {
          for (let before = performance.now(); before < endAt; ) {
            await commit(client, serviceIds[index % serviceIds.length]);
            const now = performance.now();
            latencies.push(now - before);
            before = now;
          }
        }),
      );
      return latencies;
    },
    close: () => Promise.all(clients.map((client) => client.end())),
  };
}
