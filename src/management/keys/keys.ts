import type { KeyRole } from '../../kernel/access/roles.ts';
import { AppError, rejectViolations, type Violation } from '../../kernel/errors.ts';
import { createTimeOrderedIds } from '../../kernel/ids.ts';
import type { Page } from '../../kernel/page.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { parseFutureExpiry } from '../../platform/credentials/expiry.ts';
import type { ListQuery } from '../../platform/state/keyset.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Organizations } from '../organizations/organizations.ts';
import {
  chooseNew,
  type DescribedKey,
  describeKey,
  describeKeys,
  type Limited,
  listChoiceViolations,
  listMissingRoles,
  parseRoleChoice,
  type RoleChoice,
  type RoleReader,
} from './assigned-roles.ts';
import { DEFAULT_NAME, DEFAULT_ROLES, type IpAccessEntry, isActive, type Key, type KeyState } from './key.ts';
import type { KeyWriter } from './key-writer.ts';
import { countKeys, deleteKey, findKey, listKeyPage, listKeys } from './store.ts';
import { type HashData, pickKnownFields, resolveCredentials, toAuditFields, toStoredKey } from './stored-key.ts';

/** The settings of a key that a client can choose. */
interface KeySettings {
  name?: string | undefined;
  state?: KeyState | undefined;
  roles?: KeyRole[] | undefined;
  assignedRoleIds?: string[] | undefined;
  /** ISO 8601 with an offset; null or empty: never. */
  expireAt?: string | null | undefined;
  ipAccessList?: IpAccessEntry[] | undefined;
}

/** Whether a change can give the owner of the key something, as a new name or the state `disabled` cannot. */
const givesRights = ({ roles, assignedRoleIds, state, expireAt, ipAccessList }: KeySettings): boolean =>
  state === 'enabled' || [roles, assignedRoleIds, expireAt, ipAccessList].some((value) => value !== undefined);

interface CreatedKey {
  key: DescribedKey;
  /** Returned once; absent if the client sent hashes. */
  credentials?: { keyId: string; keySecret: string };
}

export interface RotatedKey extends CreatedKey {
  /** The old key, with its new expiry. */
  previous: DescribedKey;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  roleReader: RoleReader;
  writer: KeyWriter;
}

export type Keys = ReturnType<typeof createKeys>;

export function createKeys({ state, clock, audit, organizations, roleReader, writer }: Options) {
  const nextId = createTimeOrderedIds();
  const { readManageableRoles, readGivenRoles, assertAdminRemains, save, insert } = writer;

  async function get(db: Db, organizationId: string, id: string): Promise<Key> {
    const key = await findKey(db, organizationId, id);
    if (!key) throw new AppError('not_found', `key ${id} does not exist`);
    return key;
  }

  return {
    async create(
      actor: Actor,
      organizationId: string,
      settings: KeySettings & Limited,
      hashData?: HashData,
      inTransaction?: InTransaction<DescribedKey>,
    ): Promise<CreatedKey> {
      const now = clock.now();
      const chosen = chooseNew(settings);
      rejectViolations(listChoiceViolations(chosen));
      const choice = parseRoleChoice(chosen);
      const expireAt = parseFutureExpiry(settings.expireAt, now);
      const { hashes, credentials } = resolveCredentials(hashData);
      // Time-ordered ids append to the end of the index instead of touching a random page.
      const key = toStoredKey(nextId(now), organizationId, now, hashes, {
        name: settings.name ?? DEFAULT_NAME,
        state: settings.state ?? 'enabled',
        ...(choice ?? { roles: DEFAULT_ROLES, customRoleIds: undefined }),
        ipAccessList: settings.ipAccessList?.map(pickKnownFields) ?? [],
        expireAt,
      });
      const described = await state.write(async (tx) => {
        // A role that exists now cannot be deleted meanwhile. Other keys lock the organization when they are inserted.
        if (choice?.customRoleIds) await organizations.lock(tx, organizationId);
        rejectViolations(await listMissingRoles(roleReader, tx, organizationId, chosen));
        const customRoles = await readGivenRoles(tx, key, settings);
        await insert(tx, actor, key);
        const created = describeKey(key, customRoles);
        await inTransaction?.(tx, created);
        return created;
      });
      return credentials ? { key: described, credentials } : { key: described };
    },

    /** The rules that the roles of a new or changed key break. `create` and `update` check them too. */
    listRoleViolations: async (organizationId: string, choice: RoleChoice): Promise<Violation[]> => [
      ...listChoiceViolations(choice),
      ...(await listMissingRoles(roleReader, state.db, organizationId, choice)),
    ],

    async list(organizationId: string): Promise<DescribedKey[]> {
      return describeKeys(roleReader, state.db, organizationId, await listKeys(state.db, organizationId));
    },

    async listPage(organizationId: string, query: ListQuery): Promise<Page<DescribedKey>> {
      const { items, next } = await listKeyPage(state.db, organizationId, query);
      return { items: await describeKeys(roleReader, state.db, organizationId, items), next };
    },

    /** Of all pages. */
    count: (organizationId: string, query: Pick<ListQuery, 'search'>): Promise<number> =>
      countKeys(state.db, organizationId, query),

    async get(organizationId: string, id: string): Promise<DescribedKey> {
      const key = await get(state.db, organizationId, id);
      return describeKey(key, await roleReader.list(state.db, organizationId, key.customRoleIds ?? []));
    },

    /** Omitted fields keep their value; the address list is replaced as a whole. */
    async update(
      actor: Actor,
      organizationId: string,
      id: string,
      settings: KeySettings & Limited,
    ): Promise<DescribedKey> {
      const expireAt = parseFutureExpiry(settings.expireAt, clock.now());
      rejectViolations(listChoiceViolations(settings));
      const choice = parseRoleChoice(settings);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const after: Key = {
          ...before,
          name: settings.name ?? before.name,
          state: settings.state ?? before.state,
          ...choice,
          ipAccessList: settings.ipAccessList?.map(pickKnownFields) ?? before.ipAccessList,
          expireAt: settings.expireAt === undefined ? before.expireAt : expireAt,
        };
        rejectViolations(await listMissingRoles(roleReader, tx, organizationId, settings));
        await readManageableRoles(tx, before, settings);
        const readRoles = givesRights(settings) ? readGivenRoles : readManageableRoles;
        const customRoles = await readRoles(tx, after, settings);
        await assertAdminRemains(tx, before, after, after.state === 'disabled' ? 'disabled' : 'demoted');
        return describeKey(await save(tx, actor, before, after), customRoles);
      });
    },

    async remove(actor: Actor, organizationId: string, id: string, limited: Limited): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const key = await get(tx, organizationId, id);
        await readManageableRoles(tx, key, limited);
        if (actor.type === 'api' && actor.id === id)
          throw new AppError('conflict', 'A key cannot delete itself; use another key');
        await assertAdminRemains(tx, key, undefined, 'deleted');
        await deleteKey(tx, key);
        await audit.record(tx, actor, {
          organizationId,
          type: 'key_delete',
          resource: { type: 'key', id },
          before: toAuditFields(key),
        });
      });
    },

    /**
     * Creates a key with the settings and the lifetime of an active key, which then expires after the grace period.
     * Both are ordinary records, so the last use of the old key shows whether a client still needs it.
     */
    async rotate(
      actor: Actor,
      organizationId: string,
      id: string,
      options: { gracePeriodMs: number; hashData?: HashData | undefined } & Limited,
      inTransaction?: InTransaction<RotatedKey>,
    ): Promise<RotatedKey> {
      const { hashes, credentials } = resolveCredentials(options.hashData);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const customRoles = await readGivenRoles(tx, before, options);
        const now = clock.now();
        if (!isActive(before, now))
          throw new AppError('conflict', 'Only an active key can be rotated; this key is disabled or has expired');
        const stored = toStoredKey(nextId(now), organizationId, now, hashes, {
          name: before.name,
          state: before.state,
          roles: before.roles,
          customRoleIds: before.customRoleIds,
          ipAccessList: before.ipAccessList,
          expireAt: before.expireAt === undefined ? undefined : now + (before.expireAt - before.createdAt),
        });
        await insert(tx, actor, stored, { replaces: before.id });
        const expireAt = Math.min(before.expireAt ?? Number.POSITIVE_INFINITY, now + options.gracePeriodMs);
        const saved = await save(tx, actor, before, { ...before, expireAt }, { replacedBy: stored.id });
        const [key, previous] = [describeKey(stored, customRoles), describeKey(saved, customRoles)];
        await inTransaction?.(tx, { key, previous });
        return { key, previous, ...(credentials ? { credentials } : {}) };
      });
    },
  };
}
