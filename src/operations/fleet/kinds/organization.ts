import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import type { Organization, Tier } from '../../../management/organizations/organization.ts';
import { findOrganization, insertOrganization, updateOrganization } from '../../../management/organizations/store.ts';
import type { Kind } from './kind.ts';

export const organizationKind: Kind<Organization> = {
  name: 'organization',
  activities: {
    create: 'create_organization',
    update: (changed) =>
      changed.includes('tier') || changed.includes('paid') ? 'organization_update_tier' : 'organization_update_name',
    remove: 'delete_organization',
  },

  async load(tx, organizationId) {
    const organization = await findOrganization(tx, organizationId);
    return new Map(organization ? [[organizationId, organization]] : []);
  },

  toFields: ({ name, tier, isPaid, createdAt }) => ({ name, tier, paid: isPaid, createdAt: isoTime(createdAt) }),

  defaults: (_fields, { now }) => ({ tier: 'SCALE', paid: false, createdAt: isoTime(now) }),

  build: (id, fields, _context, before) => ({
    id,
    name: String(fields.name),
    tier: fields.tier as Tier,
    isPaid: fields.paid === true,
    createdAt: parseDateTime(String(fields.createdAt), { offset: 'required' }) ?? 0,
    costRevision: before?.costRevision ?? 1,
  }),

  violations: () => [],

  async save(tx, pairs) {
    for (const { before, after } of pairs)
      await (before ? updateOrganization(tx, after) : insertOrganization(tx, after));
  },

  async remove() {},
};
