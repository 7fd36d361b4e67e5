import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { until } from '../../../test/support/until.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createKeptResponses, type KeptResponses } from './kept-responses.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const response = { requestHash: 'r', result: '{}', headers: { etag: 'x' } };
const toKey = (keyHash: string) => ({ organizationId: 'o', credentialId: 'c', keyHash });

onEachStore('kept responses', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let responses: KeptResponses;
  let now: number;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    now = START;
    const clock = { now: () => now, monotonicMs: () => now };
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    responses = createKeptResponses({ state, clock, log: pino({ level: 'silent' }) });
  });

  afterEach(async () => {
    await responses?.close();
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const save = (keyHash: string, more: object = {}) =>
    state.write((tx) => responses.save(tx, toKey(keyHash), { ...response, ...more }));
  const count = async () => (await state.db.selectFrom('idempotent_responses').select('key_hash').execute()).length;

  it('are stored with the change or not at all, and the first one wins', async () => {
    await expect(
      state.write(async (tx) => {
        await responses.save(tx, toKey('a'), response);
        throw new Error('fails later');
      }),
    ).rejects.toThrow('fails later');
    expect(await responses.find(toKey('a'))).toBeUndefined();
    await save('a');
    await expect(save('a', { requestHash: 'other' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await responses.find(toKey('a'))).toEqual(response);
    for (const other of [{ organizationId: 'p' }, { credentialId: 'd' }, { keyHash: 'b' }])
      expect(await responses.find({ ...toKey('a'), ...other })).toBeUndefined();
  });

  it('are deleted in the background after 24 hours', async () => {
    await save('old');
    await save('too large', { result: undefined });
    now += DAY_MS - 1;
    await save('new');
    expect(await responses.find(toKey('too large'))).toEqual({ ...response, result: undefined });
    now++;
    responses.start();
    await until(count, (rows) => rows === 1, 'old responses are not deleted');
    expect(await responses.find(toKey('new'))).toEqual(response);
  });
});
