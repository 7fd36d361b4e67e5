import Type, { type Static } from 'typebox';
import { deriveUuid } from '../../kernel/ids.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import { MAX_ACTORS } from '../keys/assigned-roles.ts';
import { CredentialName } from '../keys/schema.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { MAX_PERMISSIONS, MAX_POLICIES, MAX_RESOURCES } from './role.ts';
import type { ListedRole } from './roles.ts';

export const RolePath = Type.Object({
  ...OrganizationPath.properties,
  roleId: Type.String({ format: 'uuid' }),
});

const AllowDeny = Type.Enum(['ALLOW', 'DENY']);

/** Known to the public service, which uses them for its SQL console. */
const UnsupportedTags = Type.Refine(
  Type.Object({}, { description: 'Must be empty: there is no SQL console' }),
  (value) => Object.keys(value as object).length === 0,
  () => 'tags are for the SQL console of the public service and are not supported here',
);

const ACTOR = /^apiKey\/([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$/;

const ActorList = Type.Array(
  Type.Refine(
    Type.String({
      maxLength: 64,
      description: 'apiKey/{id}, with the UUID of the key record',
      documented: { pattern: ACTOR.source },
    }),
    (text) => typeof text !== 'string' || ACTOR.test(text),
    () => 'The value must be apiKey/{id}, with the UUID of a key',
  ),
  { maxItems: MAX_ACTORS, uniqueItems: true, description: 'The keys that have the role' },
);

export const parseActor = (text: string): string => (ACTOR.exec(text)?.[1] ?? '').toLowerCase();

export const PolicyBody = Type.Object({
  allowDeny: Type.Enum(['ALLOW', 'DENY'], { description: 'DENY takes precedence over the ALLOW of any role' }),
  permissions: Type.Array(Type.String({ maxLength: 255 }), {
    minItems: 1,
    maxItems: MAX_PERMISSIONS,
    uniqueItems: true,
    description: 'Permissions, or ids of operations: docs/roles.md lists them',
  }),
  resources: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: MAX_RESOURCES,
    uniqueItems: true,
    description: 'organization/{organizationId}, or instance/{serviceId} and instance/*',
  }),
});

const Policies = Type.Array(
  NamedObject('RBACPolicyCreateRequest', { ...PolicyBody.properties, tags: Type.Optional(UnsupportedTags) }),
  {
    maxItems: MAX_POLICIES,
  },
);

export const CreateRoleBody = NamedObject('RoleCreateRequest', {
  name: CredentialName,
  actors: Type.Optional(ActorList),
  policies: Type.Optional(Policies),
});

export const UpdateRoleBody = NamedObject('RoleUpdateRequest', {
  name: Type.Optional(CredentialName),
  actors: Type.Optional(ActorList),
  removeOtherActors: Type.Optional(
    Type.Boolean({
      description:
        'With actors: whether the keys that the list does not name lose the role. Default: true for a custom role, false for a system role',
    }),
  ),
  policies: Type.Optional(Policies),
});

export const RoleRecord = NamedObject('RBACRole', {
  id: Type.String({ format: 'uuid' }),
  tenantId: Type.String({ description: 'organization/{organizationId}' }),
  ownerId: Type.String({ description: 'organization/{organizationId}' }),
  name: Type.String(),
  type: Type.Enum(['system', 'custom']),
  actors: Type.Array(Type.String(), { description: `The keys that have the role, at most ${MAX_ACTORS}: apiKey/{id}` }),
  policies: Type.Array(
    NamedObject('RBACPolicy', {
      id: Type.String({ format: 'uuid' }),
      roleId: Type.String({ format: 'uuid' }),
      tenantId: Type.String(),
      allowDeny: AllowDeny,
      permissions: Type.Array(Type.String()),
      resources: Type.Array(Type.String()),
    }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
});

export function toRoleRecord({ role, type, actorIds }: ListedRole): Static<typeof RoleRecord> {
  const { id, organizationId, name, policies, createdAt, updatedAt } = role;
  const tenantId = `organization/${organizationId}`;
  return {
    id,
    tenantId,
    ownerId: tenantId,
    name,
    type,
    actors: actorIds.map((keyId) => `apiKey/${keyId}`),
    policies: policies.map(({ allowDeny, permissions, resources }, index) => ({
      id: deriveUuid(id, 'policy', String(index)),
      roleId: id,
      tenantId,
      allowDeny,
      permissions,
      resources,
    })),
    createdAt: isoSeconds(createdAt),
    updatedAt: isoSeconds(updatedAt),
  };
}
