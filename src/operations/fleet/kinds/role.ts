import { type CustomRole, isKeyRole, type Policy } from '../../../kernel/access/roles.ts';
import { AppError } from '../../../kernel/errors.ts';
import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import { listPolicyViolations, listServiceIds, normalizePolicy } from '../../../management/roles/role.ts';
import { deleteRole, insertRole, listRoles, updateRole } from '../../../management/roles/store.ts';
import type { Kind } from './kind.ts';

export const roleKind: Kind<CustomRole> = {
  name: 'role',
  activities: { create: 'role_create', update: () => 'role_update', remove: 'role_delete' },

  async load(tx, organizationId) {
    return new Map((await listRoles(tx, organizationId)).map((role) => [role.id, role]));
  },

  toFields: ({ name, policies, createdAt }) => ({ name, policies, createdAt: isoTime(createdAt) }),

  defaults: (_fields, { now }) => ({ policies: [], createdAt: isoTime(now) }),

  build: (id, fields, { organization, now }) => ({
    id,
    organizationId: organization.id,
    name: String(fields.name),
    policies: (fields.policies as Policy[]).map((policy) => normalizePolicy(policy, organization.id)),
    createdAt: parseDateTime(String(fields.createdAt), { offset: 'required' }) ?? 0,
    updatedAt: now,
  }),

  violations: ({ before, after }, { organization, services }) => [
    ...(isKeyRole(after.name) ? [{ path: 'name', rule: 'This is the name of a system role', value: after.name }] : []),
    // Services that the stored role names may have been deleted.
    ...listPolicyViolations(
      after.policies,
      organization.id,
      new Set([...services.keys(), ...listServiceIds(before?.policies ?? [])]),
    ),
  ],

  async save(tx, pairs) {
    for (const { before, after } of pairs)
      if (!(await (before ? updateRole(tx, after) : insertRole(tx, after))))
        throw new AppError('conflict', `The organization has another role with the name ${after.name}`);
  },

  remove: (tx, role) => deleteRole(tx, role),
};
