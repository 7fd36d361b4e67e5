import { randomUUID } from 'node:crypto';
import type { TestServer } from './server.ts';
import { runSql } from './store-sql.ts';

/** Adds the record of a backup, as the node that made it stores it. There are no files. Returns its id. */
export async function insertBackup(
  server: TestServer,
  organizationId: string,
  serviceId: string,
  status: 'done' | 'error' = 'done',
): Promise<string> {
  const id = randomUUID();
  const document = JSON.stringify({ serviceName: 'analytics', retentionHours: 24, finishedAt: Date.now() });
  const values = [organizationId, id, serviceId, id, 'elsewhere', status].map((value) => `'${value}'`).join(', ');
  const columns = 'organization_id, id, service_id, chain_id, directory_id, status, started_at, size_bytes, document';
  await runSql(server, `INSERT INTO service_backups (${columns}) VALUES (${values}, ${Date.now()}, 1, '${document}')`);
  return id;
}
