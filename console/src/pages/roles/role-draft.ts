import type { ChangedRole, NewRole, Role } from '../../api/types.ts';

export type Scope = 'organization' | 'services';

/** State of the form for a policy. */
export interface PolicyDraft {
  /** React key of the row. */
  row: number;
  allowDeny: 'ALLOW' | 'DENY';
  scope: Scope;
  permissions: string[];
  /** Empty means all services. */
  serviceIds: string[];
}

/** State of the form for a role. */
export interface RoleDraft {
  name: string;
  policies: PolicyDraft[];
  keyIds: string[];
}

const ALL_SERVICES = 'instance/*';
const SERVICE_PREFIX = 'instance/';
const KEY_PREFIX = 'apiKey/';

export const createPolicyDraft = (row: number): PolicyDraft => ({
  row,
  allowDeny: 'ALLOW',
  scope: 'services',
  permissions: [],
  serviceIds: [],
});

export const createRoleDraft = (): RoleDraft => ({ name: '', policies: [createPolicyDraft(0)], keyIds: [] });

export const toRoleDraft = ({ name, policies, actors }: Role): RoleDraft => ({
  name,
  keyIds: listKeyIds(actors),
  policies: policies.map(({ allowDeny, permissions, resources }, row) => ({
    row,
    allowDeny,
    permissions,
    scope: resources.some((resource) => resource.startsWith(SERVICE_PREFIX)) ? 'services' : 'organization',
    serviceIds: resources.includes(ALL_SERVICES)
      ? []
      : resources
          .filter((resource) => resource.startsWith(SERVICE_PREFIX))
          .map((resource) => resource.slice(SERVICE_PREFIX.length)),
  })),
});

export const listKeyIds = (actors: readonly string[]): string[] =>
  actors.map((actor) => actor.slice(KEY_PREFIX.length));

export const toRequestBody = ({ name, policies, keyIds }: RoleDraft, organizationId: string): NewRole => ({
  name: name.trim(),
  actors: keyIds.map((id) => KEY_PREFIX + id),
  policies: policies.map(({ allowDeny, scope, permissions, serviceIds }) => ({
    allowDeny,
    permissions,
    resources:
      scope === 'organization'
        ? [`organization/${organizationId}`]
        : serviceIds.length === 0
          ? [ALL_SERVICES]
          : serviceIds.map((id) => SERVICE_PREFIX + id),
  })),
});

/** The form shows all keys that have the role, so those that were removed from it lose the role. */
export const toChangeBody = (draft: RoleDraft, organizationId: string): ChangedRole => ({
  ...toRequestBody(draft, organizationId),
  removeOtherActors: true,
});

/** The permissions of a scope: the role admin has all of them. */
export const listPermissions = (roles: readonly Role[], scope: Scope): string[] => {
  const admin = roles.find(({ type, name }) => type === 'system' && name === 'admin');
  return (admin?.policies ?? [])
    .filter(({ resources }) => resources.includes(ALL_SERVICES) === (scope === 'services'))
    .flatMap(({ permissions }) => permissions);
};
