import Type, { type Static, type TSchema } from 'typebox';
import { parseNetwork } from '../../kernel/access/addresses.ts';
import { KEY_ROLES, type KeyRole } from '../../kernel/access/roles.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { listViolations } from '../../kernel/schemas/violations.ts';
import { isStorable } from '../../kernel/text.ts';
import { type Clock, isoSeconds, MINUTE_MS } from '../../kernel/time/clock.ts';
import { findViolatedExpiryRule, formatExpiry } from '../../platform/credentials/expiry.ts';
import { EMPTY_SECRET_HASH } from '../../platform/credentials/secrets.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { type DescribedKey, MAX_CUSTOM_ROLES_PER_KEY, type RoleChoice } from './assigned-roles.ts';
import { KEY_STATES } from './key.ts';

export const KeyPath = Type.Object({
  ...OrganizationPath.properties,
  keyId: Type.String({
    format: 'uuid',
    description: 'The UUID of the key record, not the key id used to authenticate',
  }),
});

const isNetwork = (text: unknown): boolean => typeof text !== 'string' || parseNetwork(text) !== undefined;

export const IpAccessEntry = NamedObject('IpAccessListEntry', {
  source: Type.Refine(
    Type.String({ maxLength: 128, description: 'An IPv4 or IPv6 address, or a CIDR' }),
    isNetwork,
    () => 'The value must be an IPv4 or IPv6 address or a CIDR',
  ),
  description: Type.Optional(StorableText({ maxLength: 1024 })),
});

export const NAME_LENGTH = { minLength: 1, maxLength: 255 };
export const CredentialName = StorableText({ ...NAME_LENGTH, description: 'Need not be unique' });
const State = Type.Enum([...KEY_STATES]);
const Roles = Type.Array(Type.Enum([...KEY_ROLES]), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  deprecated: true,
  description: 'System roles by name. Replaces all roles; use assignedRoleIds for custom roles',
});
const AssignedRoleIds = (emptyMeaning: string) =>
  Type.Array(Type.String({ format: 'uuid' }), {
    maxItems: MAX_CUSTOM_ROLES_PER_KEY,
    uniqueItems: true,
    description: `System and custom roles by id. ${emptyMeaning}`,
  });

/** Checked with the schema, so that one response names every violated member. */
export const FutureExpiry = (clock: Clock) => {
  const findViolatedRule = (value: unknown) =>
    typeof value === 'string' ? findViolatedExpiryRule(value, clock.now()) : undefined;
  return Type.Refine(
    Type.Union([
      Type.String({
        maxLength: 64,
        description: 'ISO 8601 date-time with an offset or Z, in the future; empty means never',
      }),
      Type.Null(),
    ]),
    (value) => findViolatedRule(value) === undefined,
    (value) => findViolatedRule(value) ?? '',
  );
};

const IpAccessList = Type.Array(IpAccessEntry, {
  maxItems: 1000,
  description: 'Addresses that may use the key; empty means any',
});

// 32 bytes leave two bits of the last base64 digit unused. Encoders write zeros; any other digit could never match.
const SHA256 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const isSha256 = (text: unknown): boolean => typeof text !== 'string' || SHA256.test(text);
/** Of a secret that the client keeps. */
export const Hash = (input: string) =>
  Type.Refine(
    Type.Refine(
      Type.String({
        maxLength: 1024,
        description: `base64(SHA-256(${input}))`,
        documented: { pattern: SHA256.source },
      }),
      isSha256,
      () => 'The value must be a SHA-256 in base64, 44 characters',
    ),
    (text) => text !== EMPTY_SECRET_HASH,
    () => 'The value is the hash of an empty string; hash the real value',
  );

export const HashData = NamedObject('ApiKeyHashData', {
  keyIdHash: Hash('key id'),
  keyIdSuffix: Type.Refine(
    Type.String({
      maxLength: 1024,
      description: 'The last four characters of the key id',
      documented: { minLength: 4, maxLength: 4 },
    }),
    (text) => typeof text !== 'string' || (/^.{4}$/su.test(text) && isStorable(text)),
    () => 'The value must be the last 4 characters of the key id',
  ),
  keySecretHash: Hash('key secret'),
});

export const CreateKeyBody = (clock: Clock) =>
  NamedObject('ApiKeyPostRequest', {
    name: Type.Optional(CredentialName),
    expireAt: Type.Optional(FutureExpiry(clock)),
    hashData: Type.Optional(HashData),
    ipAccessList: Type.Optional(IpAccessList),
    roles: Type.Optional(Roles),
    assignedRoleIds: Type.Optional(AssignedRoleIds('Empty means the default, developer')),
    state: Type.Optional(State),
  });

export const UpdateKeyBody = (clock: Clock) =>
  NamedObject('ApiKeyPatchRequest', {
    name: Type.Optional(CredentialName),
    expireAt: Type.Optional(FutureExpiry(clock)),
    ipAccessList: Type.Optional(IpAccessList),
    roles: Type.Optional(Roles),
    assignedRoleIds: Type.Optional(AssignedRoleIds('Replaces all roles; empty removes them all')),
    state: Type.Optional(State),
  });

const isValid = (schema: TSchema, value: unknown): boolean =>
  value !== undefined && listViolations(schema, value, '', 1).length === 0;

/** The valid members of a body that choose roles; the body itself may be invalid. */
export function pickRoleChoice(body: unknown): RoleChoice {
  const { roles, assignedRoleIds } = (body ?? {}) as Record<keyof RoleChoice, unknown>;
  return {
    ...(isValid(Roles, roles) && { roles: roles as KeyRole[] }),
    ...(isValid(AssignedRoleIds(''), assignedRoleIds) && { assignedRoleIds: assignedRoleIds as string[] }),
  };
}

const MAX_GRACE_HOURS = 7 * 24;
const DEFAULT_GRACE_HOURS = 24;

export const RotateKeyBody = NamedObject('ApiKeyRotateRequest', {
  gracePeriodHours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: MAX_GRACE_HOURS,
      default: DEFAULT_GRACE_HOURS,
      description: `How long the old key keeps working; 0 to ${MAX_GRACE_HOURS} hours, default ${DEFAULT_GRACE_HOURS}. It never outlives its own expiry`,
    }),
  ),
  hashData: Type.Optional(HashData),
});

/** The grace period of a rotation in milliseconds. */
export const toGracePeriodMs = (hours = DEFAULT_GRACE_HOURS): number => Math.round(hours * 60 * MINUTE_MS);

/** Of keys and dashboard tokens. */
export const CredentialTimes = {
  createdAt: Type.String({ format: 'date-time' }),
  expireAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'null means never' }),
  usedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'One-minute precision; absent until the first use' }),
  ),
};

export const AssignedRoleRecord = NamedObject('AssignedRole', {
  roleId: Type.String({ format: 'uuid' }),
  roleName: Type.String(),
  roleType: Type.Enum(['system', 'custom']),
});

export const KeyRecord = NamedObject('ApiKey', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  state: State,
  roles: Type.Array(Type.Enum([...KEY_ROLES]), {
    deprecated: true,
    description: 'The system roles; empty if the key has custom roles only',
  }),
  assignedRoles: Type.Array(AssignedRoleRecord, { description: 'All roles' }),
  keySuffix: Type.String({ description: 'The last four characters of the key id' }),
  ...CredentialTimes,
  ipAccessList: Type.Array(IpAccessEntry),
});

export const CreateKeyResult = NamedObject('ApiKeyPostResponse', {
  key: KeyRecord,
  keyId: Type.Optional(
    Type.String({
      description: 'The Basic user name; returned once, absent with hashData and when a response is replayed',
    }),
  ),
  keySecret: Type.Optional(
    Type.String({
      description: 'The Basic password; returned once, absent with hashData and when a response is replayed',
    }),
  ),
});

export const RotateKeyResult = NamedObject('ApiKeyRotateResponse', {
  ...CreateKeyResult.properties,
  previous: { ...KeyRecord, description: 'The old key, which expires after the grace period' },
});

/** The public fields of a key. */
export function toKeyRecord(key: DescribedKey): Static<typeof KeyRecord> {
  const { id, name, state, roles, assignedRoles, keySuffix, createdAt, expireAt, usedAt, ipAccessList } = key;
  return {
    id,
    name,
    state,
    roles,
    assignedRoles,
    keySuffix,
    createdAt: isoSeconds(createdAt),
    expireAt: formatExpiry(expireAt),
    ipAccessList,
    ...(usedAt === undefined ? undefined : { usedAt: isoSeconds(usedAt) }),
  };
}

export const TotalCount = Type.Optional(
  Type.Integer({ description: 'Number of keys on all pages; present together with limit' }),
);
