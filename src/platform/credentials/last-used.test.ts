import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newUuid } from '../../kernel/ids.ts';
import type { Key } from '../../management/keys/key.ts';
import { findKey, insertKey } from '../../management/keys/store.ts';
import { insertOrganization } from '../../management/organizations/store.ts';
import { openState } from '../state/open.ts';
import type { State } from '../state/state.ts';
import { createLastUsed, type LastUsed } from './last-used.ts';
import { hashSecret } from './secrets.ts';

const NOON = Date.parse('2026-11-15T12:00:00Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('the last use of a key', () => {
  const organizationId = newUuid();
  let directory: string;
  let state: State;
  let lastUsed: LastUsed;
  let now: number;
  let writes: number;
  let warnings: string[];
  const clock = { now: () => now, monotonicMs: () => now };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    now = NOON;
    warnings = [];
    state = await openState({ dataDirectory: directory, clock, observer: { query() {}, commit: () => void writes++ } });
    await state.write((tx) =>
      insertOrganization(tx, { id: organizationId, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: NOON }),
    );
    lastUsed = createLastUsed({
      state,
      clock,
      log: { warn: (_: unknown, text?: string) => void warnings.push(text ?? '') },
      table: 'api_keys',
    });
  });

  afterEach(async () => {
    await state.close();
    rmSync(directory, { recursive: true });
  });

  async function storedKey(usedAt?: number): Promise<Key> {
    const id = newUuid();
    const key: Key = {
      id,
      organizationId,
      name: 'key',
      state: 'enabled',
      roles: ['developer'],
      ipAccessList: [],
      keyIdHash: hashSecret(id),
      keySuffix: 'abcd',
      keySecretHash: hashSecret('secret'),
      createdAt: NOON,
      expireAt: undefined,
      usedAt,
    };
    await state.write((tx) => insertKey(tx, key));
    writes = 0;
    return key;
  }

  const usedAt = async ({ id }: Key) => (await findKey(state.db, organizationId, id))?.usedAt;

  it('K2: is absent until the first use, then has one-minute precision', async () => {
    const key = await storedKey();
    await lastUsed.flush();
    expect([await usedAt(key), writes]).toEqual([undefined, 0]);
    now = NOON + 59 * SECOND;
    lastUsed.record(key);
    await lastUsed.flush();
    expect([await usedAt(key), writes]).toEqual([NOON, 1]);
  });

  it('K2: is written at most once per key and minute', async () => {
    const key = await storedKey();
    for (let second = 0; second < 60; second++) {
      now = NOON + second * SECOND;
      lastUsed.record(key);
      await lastUsed.flush();
    }
    expect(writes).toBe(1);
    now = NOON + MINUTE;
    lastUsed.record(key);
    await lastUsed.flush();
    expect([await usedAt(key), writes]).toEqual([NOON + MINUTE, 2]);
  });

  it('K2: shares one write with other keys', async () => {
    const keys = [await storedKey(), await storedKey(), await storedKey()];
    for (const key of keys) lastUsed.record(key);
    await lastUsed.flush();
    expect(writes).toBe(1);
    for (const key of keys) expect(await usedAt(key)).toBe(NOON);
  });

  it('K2: is not written again if another node wrote it in the same minute', async () => {
    const key = await storedKey(NOON);
    now = NOON + 30 * SECOND;
    lastUsed.record(key);
    await lastUsed.flush();
    expect(writes).toBe(0);
  });

  it('K2: never moves backwards if another node wrote a later use', async () => {
    const key = await storedKey(NOON + MINUTE);
    lastUsed.record({ ...key, usedAt: undefined });
    await lastUsed.flush();
    expect(await usedAt(key)).toBe(NOON + MINUTE);
  });

  it('K2: is written in the background', async () => {
    const key = await storedKey();
    lastUsed.record(key);
    await expect.poll(() => usedAt(key), { timeout: 20_000 }).toBe(NOON);
  });

  it('K2: is written before close resolves', async () => {
    const key = await storedKey();
    lastUsed.record(key);
    await lastUsed.close();
    expect([await usedAt(key), writes]).toEqual([NOON, 1]);
  });

  it('K2: ignores a key that was deleted in the meantime', async () => {
    const key = await storedKey();
    lastUsed.record({ ...key, id: newUuid() });
    lastUsed.record(key);
    await lastUsed.flush();
    expect([await usedAt(key), warnings]).toEqual([NOON, []]);
  });

  it('K2: logs a warning if the store fails, and is written by the next use', async () => {
    const key = await storedKey();
    await state.write((tx) => sql`ALTER TABLE api_keys RENAME TO elsewhere`.execute(tx));
    lastUsed.record(key);
    await lastUsed.flush();
    expect(warnings).toEqual(['failed to store the last use of keys']);
    await state.write((tx) => sql`ALTER TABLE elsewhere RENAME TO api_keys`.execute(tx));
    lastUsed.record(key);
    await lastUsed.flush();
    expect([await usedAt(key), warnings.length]).toEqual([NOON, 1]);
  });
});
