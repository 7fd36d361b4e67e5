import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseServer, PASSWORDS, startClickHouseServer } from '../../../test/support/clickhouse-server.ts';
import { openClient } from './client.ts';
import { migrate } from './migrate.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/engine');
const TABLES = ['logs', 'traces', 'metrics_gauge', 'metrics_sum', 'metrics_histogram'];

describe('migration of the own telemetry of earlier versions', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await startClickHouseServer(join(directory, 'server'));
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('moves it to tables of its own, and leaves rows of a service with the same name', async () => {
    const earlier = join(directory, 'earlier');
    mkdirSync(earlier);
    for (const file of ['0001-telemetry.sql', '0002-usage.sql'])
      copyFileSync(join(MIGRATIONS, file), join(earlier, file));
    const url = `http://127.0.0.1:${server.port}`;
    const client = await openClient({ url, username: 'writer', password: PASSWORDS.writer });
    const count = async (table: string) => {
      const query = `SELECT ScopeName FROM pilothouse.${table} ORDER BY ScopeName`;
      const result = await client.query({ query, format: 'JSONEachRow' });
      return (await result.json<{ ScopeName: string }>()).map(({ ScopeName }) => ScopeName);
    };
    try {
      await migrate(client, earlier, AbortSignal.timeout(60_000));
      const values = ['pilothouse.http', 'pilothouse.process', 'mine'].map((ScopeName) => ({
        OrganizationId: 'acme',
        ServiceName: 'pilothouse',
        ScopeName,
      }));
      for (const table of TABLES) {
        const time = table.startsWith('metrics') ? 'TimeUnix' : 'Timestamp';
        const rows = values.map((row) => ({ ...row, [time]: new Date().toISOString() }));
        await client.insert({ table: `pilothouse.otel_${table}`, values: rows, format: 'JSONEachRow' });
      }
      await migrate(client, MIGRATIONS, AbortSignal.timeout(60_000));
      for (const table of TABLES) {
        expect(await count(`pilothouse_${table}`)).toEqual(['pilothouse.http', 'pilothouse.process']);
        await expect.poll(() => count(`otel_${table}`), { timeout: 60_000 }).toEqual(['mine']);
      }
    } finally {
      await client.close();
    }
  });
});
