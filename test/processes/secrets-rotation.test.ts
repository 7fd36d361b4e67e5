import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { cliProcess } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { spawnProgram } from '../support/process.ts';
import { OWN_SECRETS_KEY } from '../support/secrets-key.ts';
import { onEachStore, startServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

// Starts several processes.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const CHANNELS = 90;

onEachStore('the key of the secrets', (store) => {
  it('is rotated while the server runs and its workers write, also after a kill, and nothing becomes unreadable', async () => {
    const options = { args: ['--workers', '2'], environment: OWN_SECRETS_KEY };
    const server = await startServer(store, options);
    try {
      const data = join(server.directory, 'data');
      const keyFile = join(data, 'secrets.key');
      const flags = ['--data', data, ...(server.databaseUrl ? ['--database-url', server.databaseUrl] : [])];
      const readKeys = () =>
        readFileSync(keyFile, 'utf8')
          .split('\n')
          .filter((line) => /^[A-Za-z0-9+/]{43}=$/.test(line));
      const [oldKey] = readKeys();
      const create = (name: string) =>
        server.call({
          method: 'POST',
          path: '/api/v2/webhooks',
          token: acme.writer,
          body: { service: 'generic', name, url: `https://example.com/${name}`, headers: { 'x-secret': name } },
        });
      for (let i = 0; i < CHANNELS; i++) expect((await create(`before-${i}`)).status).toBe(200);
      const list = async (): Promise<Json[]> => {
        const { status, json, text } = await server.call({ path: '/api/v2/webhooks?limit=200', token: acme.writer });
        expect(status, text).toBe(200);
        return json.data;
      };
      const listKeyIds = async () =>
        new Set(
          (await runSql(server, 'SELECT document FROM channels')).map(({ document }) => String(document).split(':')[1]),
        );

      // Killed at any time: as soon as the file has the new key, and later.
      for (const condition of [() => readKeys().length > 1, async () => (await listKeyIds()).size > 1]) {
        const rotation = spawnProgram(['secrets', 'rotate', ...flags], { environment: OWN_SECRETS_KEY });
        let hasEnded = false;
        void rotation.ended.then(() => {
          hasEnded = true;
        });
        await until(
          async () => hasEnded || (await condition()),
          (isReady) => isReady,
          'the rotation does not start',
        );
        rotation.kill('SIGKILL');
        await rotation.ended;
        expect(await list()).toHaveLength(CHANNELS);
      }
      expect((await create('during')).status).toBe(200);
      const { code, stdout, stderr } = await cliProcess(['secrets', 'rotate', '--json', ...flags], OWN_SECRETS_KEY);
      expect(code, stderr).toBe(0);
      const { keyId } = JSON.parse(stdout);
      expect(await listKeyIds()).toEqual(new Set([keyId]));
      expect(readKeys()).toHaveLength(1);
      expect(readKeys()).not.toContain(oldKey);
      // Each worker follows.
      for (let i = 0; i < 8; i++) expect((await create(`after-${i}`)).status).toBe(200);
      expect(await listKeyIds()).toEqual(new Set([keyId]));
      expect((await list()).map(({ name }) => name)).toHaveLength(CHANNELS + 9);
      await server.stop();
      await server.restart();
      expect(await list()).toHaveLength(CHANNELS + 9);
    } finally {
      await server.remove();
    }
  });

  it('is required: a server without it does not start, says what to do, and doctor too', async () => {
    const server = await startServer(store, { environment: OWN_SECRETS_KEY });
    try {
      const data = join(server.directory, 'data');
      const keyFile = join(data, 'secrets.key');
      const copy = join(server.directory, 'copy.key');
      await server.stop();
      copyFileSync(keyFile, copy);
      rmSync(keyFile);
      const flags = [
        '--port',
        '0',
        '--data',
        data,
        ...(server.databaseUrl ? ['--database-url', server.databaseUrl] : []),
      ];
      const message =
        /The secrets are encrypted with the key [0-9a-f]{16}, and there is no file .*secrets\.key\. Copy the key file/;
      const failed = await cliProcess(['serve', ...flags], OWN_SECRETS_KEY);
      expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(message)]);
      expect(existsSync(keyFile)).toBe(false);
      const doctor = await cliProcess(['doctor', ...flags], OWN_SECRETS_KEY);
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(message)]);
      expect(doctor.stdout).toContain('Copy the key file of a server that used this store before');
      const found = await cliProcess(['doctor', ...flags, '--secrets-key-file', copy, '--json'], OWN_SECRETS_KEY);
      expect(JSON.parse(found.stdout).find?.(({ check }: Json) => check === 'secrets') ?? found.stdout).toBeTruthy();
      expect(found.stdout).toContain('encrypted with the key');
    } finally {
      await server.remove();
    }
  });
});
