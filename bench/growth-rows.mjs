// Multiplies rows of a store with SQL: over the API, a large store would take hours.
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';

const DAY_MS = 86_400_000;
const BATCH = 1_000_000;

/** `url`: of PostgreSQL; libSQL without it. */
export async function openRows(data, url) {
  const { run, close } = url ? await openPostgres(url) : openLibsql(join(data, 'state.db'));
  /** Numbers from `first` to `last` as `n.i`, and the same with twelve digits as `n.id`. */
  const numbers = (first, last) => `WITH RECURSIVE numbers(i) AS
    (SELECT ${first} UNION ALL SELECT i + 1 FROM numbers WHERE i < ${last}),
    n AS (SELECT i, substr('000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1) AS id FROM numbers)`;

  /** Copies the row that `where` selects, once for each number; `changes` are expressions by column. */
  async function copy(table, columns, where, last, changes) {
    for (let first = 1; first <= last; first += BATCH) {
      const values = columns.map((column) => changes[column] ?? `t.${column}`);
      await run(`${numbers(first, Math.min(last, first + BATCH - 1))}
        INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM n, ${table} t WHERE ${where}`);
    }
  }

  async function fill(size, { organizationId, serviceId, dashboardId }) {
    const own = `t.organization_id = '${organizationId}'`;
    const newService = "'00000000-0000-4000-9000-' || n.id";
    // Each has a warehouse of its own, with the id of the service.
    const [{ data_warehouse_id: warehouseId }] = await run(
      `SELECT data_warehouse_id FROM services WHERE id = '${serviceId}'`,
    );
    const replaceIds = (id) => `replace(replace(t.document, '${serviceId}', ${id}), '${warehouseId}', ${id})`;
    await copy('services', SERVICES, `t.id = '${serviceId}'`, size.services, {
      id: newService,
      data_warehouse_id: newService,
      document: replaceIds(newService),
      created_at: 't.created_at + n.i',
      sort_name: "'service-' || n.id",
    });
    await copy('organizations', ORGANIZATIONS, `t.id = '${organizationId}'`, size.organizations, {
      id: "'10000000-0000-4000-8000-' || n.id",
      name: "'Other ' || n.id",
    });
    for (let other = 1; other <= size.organizations; other++) {
      const id = `10000000-0000-4000-8000-${String(other).padStart(12, '0')}`;
      const newId = `'2${String(other).padStart(7, '0')}-0000-4000-8000-' || n.id`;
      await copy('services', SERVICES, `t.id = '${serviceId}'`, 1000, {
        id: newId,
        organization_id: `'${id}'`,
        data_warehouse_id: newId,
        document: `replace(${replaceIds(newId)}, '${organizationId}', '${id}')`,
        created_at: 't.created_at + n.i',
        sort_name: "'service-' || n.id",
      });
    }
    const newKey = "'00000000-0000-4000-a000-' || n.id";
    const firstKey = `${own} AND t.id = (SELECT min(id) FROM api_keys WHERE organization_id = '${organizationId}')`;
    const keys = await run(`SELECT id FROM api_keys t WHERE ${firstKey}`);
    await copy('api_keys', KEYS, firstKey, size.keys, {
      id: newKey,
      key_id_hash: "'hash-' || n.id",
      document: `replace(t.document, '${keys[0].id}', ${newKey})`,
      created_at: 't.created_at + n.i',
      sort_name: "'key-' || n.id",
    });
    await copy('key_roles', KEY_ROLES, `${own} AND t.key_id = '${keys[0].id}'`, size.keys, {
      created_at: 't.created_at + n.i',
      key_id: newKey,
    });
    await copy('dashboards', DASHBOARDS, `${own} AND t.id = '${dashboardId}'`, size.dashboards - 1, {
      id: "'growth-' || n.id",
      document: `replace(t.document, '${dashboardId}', 'growth-' || n.id)`,
    });
    // The hashes of these activities do not form a chain: reading and adding do not check them.
    const last = `${own} AND t.sequence = (SELECT min(sequence) FROM activities WHERE organization_id = '${organizationId}')`;
    await copy('activities', ACTIVITIES, last, size.activities, {
      id: "'00000000-0000-7000-8000-' || n.id",
      sequence: '-n.i',
    });
    for (let day = 1; day < size.days; day++) {
      const date = new Date(Date.UTC(2026, 9, 15) - day * DAY_MS).toISOString().slice(0, 10);
      const values = COSTS.map((column) => (column === 'date' ? `'${date}'` : column));
      await run(`INSERT INTO usage_costs (${COSTS.join(', ')}) SELECT ${values.join(', ')} FROM usage_costs
        WHERE organization_id = '${organizationId}' AND date = '2026-10-15'`);
    }
    await run('ANALYZE');
  }

  return { fill, close };
}

const SERVICES =
  'id organization_id created_at document observed sort_name driver generation settled_generation data_warehouse_id'.split(
    ' ',
  );
const ORGANIZATIONS = 'id name tier paid created_at key_count cost_revision dashboard_revision'.split(' ');
const KEYS = 'id organization_id key_id_hash created_at used_at document sort_name'.split(' ');
const KEY_ROLES = 'organization_id role created_at key_id'.split(' ');
const DASHBOARDS = 'organization_id id name document created_at updated_at version'.split(' ');
const ACTIVITIES = 'organization_id id created_at document type actor_id actor_name resource_id sequence hash'.split(
  ' ',
);
const COSTS =
  'organization_id date entity_type entity_id entity_name data_warehouse_id service_id locked storage_micros backup_micros compute_micros data_transfer_micros initial_load_micros public_data_transfer_micros inter_region_tier1_micros inter_region_tier2_micros inter_region_tier3_micros inter_region_tier4_micros'.split(
    ' ',
  );

function openLibsql(path) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  return {
    async run(text) {
      const statement = database.prepare(text);
      return statement.reader ? statement.all() : statement.run();
    },
    async close() {
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

async function openPostgres(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  return { run: async (text) => (await client.query(text)).rows, close: () => client.end() };
}
