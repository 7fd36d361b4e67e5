import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { getSystemRoleId, KEY_ROLES, type KeyRole } from '../../kernel/access/roles.ts';
import { newUuid } from '../../kernel/ids.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { insertOrganization } from '../organizations/store.ts';
import type { Key } from './key.ts';
import { deleteKey, insertKey, listKeyIdsWithRole, listKeys, listKeysWithRole, updateKey } from './store.ts';

const [ours, other, custom] = [newUuid(), newUuid(), newUuid()];

const createKey = (organizationId: string, createdAt: number, roles: KeyRole[], customRoleIds?: string[]): Key => {
  const id = newUuid();
  const settings = { name: '"roles":["admin"]', state: 'enabled' } as const;
  const hashes = { keyIdHash: id, keySuffix: '', keySecretHash: '' };
  return {
    id,
    organizationId,
    ...settings,
    ipAccessList: [],
    roles,
    customRoleIds,
    ...hashes,
    createdAt,
    expireAt: undefined,
    usedAt: undefined,
  };
};

onEachStore('the keys with a role', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;

  beforeAll(async () => {
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
    await state.write(async (tx) => {
      for (const id of [ours, other])
        await insertOrganization(tx, { id, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: 0 });
    });
  });

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Compares the rows of every role with the documents of the keys. */
  async function expectSame(): Promise<void> {
    for (const organizationId of [ours, other])
      for (const role of [...KEY_ROLES, custom]) {
        const roleId = role === custom ? custom : getSystemRoleId(role as KeyRole);
        const keys = (await listKeys(state.db, organizationId)).filter(({ roles, customRoleIds = [] }) =>
          [...roles, ...customRoleIds].includes(role),
        );
        expect(await listKeysWithRole(state.db, organizationId, roleId, 10)).toEqual(keys);
        expect(await listKeyIdsWithRole(state.db, organizationId, roleId, 10)).toEqual(keys.map(({ id }) => id));
        expect(await listKeysWithRole(state.db, organizationId, roleId, 1)).toEqual(keys.slice(0, 1));
      }
    const rows = await state.db.selectFrom('key_roles').select('key_id').execute();
    const keys = (await Promise.all([ours, other].map((id) => listKeys(state.db, id)))).flat();
    const roles = keys.flatMap((key) => [...new Set<string>([...key.roles, ...(key.customRoleIds ?? [])])]);
    expect(rows).toHaveLength(roles.length);
  }

  it('are those whose documents have it, oldest first, after every change', async () => {
    const first = createKey(ours, 2, ['admin']);
    const keys = [
      first,
      createKey(ours, 1, ['admin', 'developer'], [custom, custom]),
      createKey(ours, 3, [], [custom]),
      createKey(other, 1, ['admin'], [custom]),
    ];
    for (const key of keys) expect(await state.write((tx) => insertKey(tx, key))).toBe('inserted');
    await expectSame();
    expect(await state.write((tx) => insertKey(tx, { ...first, organizationId: other }))).toBe('taken');
    await expectSame();
    const changed: Key = { ...first, roles: ['developer'], customRoleIds: [custom], createdAt: 0 };
    await state.write((tx) => updateKey(tx, first, changed));
    await expectSame();
    const renamed: Key = { ...changed, name: 'renamed' };
    await state.write((tx) => updateKey(tx, changed, renamed));
    await expectSame();
    await state.write((tx) => deleteKey(tx, renamed));
    await expectSame();
  });
});
