import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBackup } from '../support/backup-file.ts';
import { listErrors } from '../support/cli.ts';
import { type ClickHouseServer, PASSWORDS, startClickHouseServer } from '../support/clickhouse-server.ts';
import { acme, fleet } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { createTarget, serveQuietly } from '../support/restored.ts';

const path = `/v1/organizations/${acme.id}/usageEvents`;
const events = Array.from({ length: 40 }, (_, index) => ({
  id: `event ${index}`,
  source: 'server',
  time: new Date(Date.now() - (1 + (index % 3)) * 86_400_000).toISOString(),
  entityType: 'service',
  entityId: acme.primary,
  meter: 'compute',
  quantity: 10,
}));

// Takes long and adds little to backup.test.ts.
describe.runIf(isLongRun)('a backup with a ClickHouse server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-servers-'));
  let servers: ClickHouseServer[] = [];
  beforeAll(async () => {
    servers = [await startClickHouseServer(join(directory, 'a')), await startClickHouseServer(join(directory, 'b'))];
  }, 120_000);
  afterAll(async () => {
    for (const server of servers) await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const engineArgs = (index: number) => [
    '--clickhouse-url',
    `http://writer:${PASSWORDS.writer}@127.0.0.1:${servers[index]?.port}`,
  ];

  it('is restored to another server and to the embedded engine', { timeout: 600_000 }, async () => {
    const source = await createTarget('libsql');
    const file = join(source.directory, 'all.backup');
    try {
      expect((await source.apply(fleet)).code).toBe(0);
      const server = await serveQuietly([...source.args, ...engineArgs(0)]);
      const sent = await server.call({ method: 'POST', path, key: acme.admin, body: events });
      expect(sent.json.result).toMatchObject({ accepted: 40 });
      const made = await source.run('backup', file, ...engineArgs(0));
      await server.stop();
      expect([made.code, made.stderr]).toEqual([0, '']);
      const rows = decodeBackup(file).get('engine usage_events');
      expect(rows).toHaveLength(40);

      const withoutEngine = await source.run('backup', join(source.directory, 'partial'));
      expect([withoutEngine.code, listErrors(withoutEngine)]).toEqual([
        1,
        [expect.stringMatching(/^The store has metered usage, but .* has no engine; use the --data directory or/)],
      ]);

      for (const args of [engineArgs(1), []]) {
        const target = await createTarget('libsql');
        try {
          const restored = await target.run('restore', file, ...args);
          expect([restored.code, restored.stderr]).toEqual([0, '']);
          const rejected = await target.run('restore', file, ...args);
          expect([rejected.code, listErrors(rejected)]).toEqual([
            1,
            [expect.stringMatching(/^The engine is not empty/)],
          ]);
          if (args.length > 0) expect((await target.run('restore', file, '--force', ...args)).code).toBe(0);
          const copy = await serveQuietly([...target.args, ...args]);
          const repeated = await copy.call({ method: 'POST', path, key: acme.admin, body: events });
          await copy.stop();
          expect(repeated.json.result).toMatchObject({ accepted: 0, duplicates: 40 });
          expect((await target.run('usage', 'rate', ...args)).code).toBe(0);
          const check = await target.run('usage', 'recompute', '--check', '--json', ...args);
          expect(JSON.parse(check.stdout)).toMatchObject({ days: 3, waiting: 0, differences: [] });
          const again = join(target.directory, 'again');
          expect((await target.run('backup', again, ...args)).code).toBe(0);
          expect(decodeBackup(again).get('engine usage_events')).toEqual(rows);
        } finally {
          await target.remove();
        }
      }
    } finally {
      await source.remove();
    }
  });
});
