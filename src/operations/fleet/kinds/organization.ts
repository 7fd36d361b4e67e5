import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import type {
  MemberRule,
  Organization,
  TelemetryLimits,
  TelemetryRetention,
  TelemetryRule,
  Tier,
} from '../../../management/organizations/organization.ts';
import { findOrganization, insertOrganization, updateOrganization } from '../../../management/organizations/store.ts';
import { listRuleViolations } from '../../../observability/ingest/rules/rule.ts';
import type { Kind } from './kind.ts';

export const organizationKind: Kind<Organization> = {
  name: 'organization',
  activities: {
    create: 'create_organization',
    update(changed) {
      if (changed.includes('tier') || changed.includes('paid')) return 'organization_update_tier';
      if (changed.includes('name')) return 'organization_update_name';
      if (changed.includes('memberRules')) return 'organization_update_member_rules';
      if (changed.includes('keepSqlLiterals')) return 'organization_update_sql_literals';
      if (changed.includes('telemetryRules')) return 'telemetry_rules_update';
      return changed.includes('telemetryLimits') ? 'telemetry_limits_update' : 'telemetry_retention_update';
    },
    remove: 'delete_organization',
  },

  async load(tx, organizationId) {
    const organization = await findOrganization(tx, organizationId);
    return new Map(organization ? [[organizationId, organization]] : []);
  },

  toFields: ({
    name,
    tier,
    isPaid,
    createdAt,
    telemetryRetention,
    telemetryLimits,
    telemetryRules,
    memberRules,
    keepsSqlLiterals,
  }) => ({
    name,
    tier,
    paid: isPaid,
    createdAt: isoTime(createdAt),
    telemetryRetention,
    telemetryLimits,
    telemetryRules,
    memberRules,
    keepSqlLiterals: keepsSqlLiterals,
  }),

  toExportFields(organization) {
    const { telemetryRetention, telemetryLimits, telemetryRules, memberRules, keepSqlLiterals, ...fields } =
      organizationKind.toFields(organization);
    return {
      ...fields,
      ...(Object.keys(organization.telemetryRetention).length > 0 && { telemetryRetention }),
      ...(Object.keys(organization.telemetryLimits).length > 0 && { telemetryLimits }),
      ...(organization.telemetryRules.length > 0 && { telemetryRules }),
      ...(organization.memberRules.length > 0 && { memberRules }),
      ...(keepSqlLiterals === true && { keepSqlLiterals }),
    };
  },

  defaults: (_fields, { now }) => ({
    tier: 'SCALE',
    paid: false,
    createdAt: isoTime(now),
    telemetryRetention: {},
    telemetryLimits: {},
    telemetryRules: [],
    memberRules: [],
    keepSqlLiterals: false,
  }),

  build: (id, fields, _context, before) => ({
    id,
    name: String(fields.name),
    tier: fields.tier as Tier,
    isPaid: fields.paid === true,
    createdAt: parseDateTime(String(fields.createdAt), { offset: 'required' }) ?? 0,
    costRevision: before?.costRevision ?? 1,
    telemetryRetention: fields.telemetryRetention as TelemetryRetention,
    telemetryLimits: fields.telemetryLimits as TelemetryLimits,
    telemetryRules: fields.telemetryRules as TelemetryRule[],
    memberRules: fields.memberRules as MemberRule[],
    keepsSqlLiterals: fields.keepSqlLiterals === true,
  }),

  violations: ({ after: { telemetryRules } }) => listRuleViolations(telemetryRules, 'telemetryRules'),

  async save(tx, pairs) {
    for (const { before, after } of pairs)
      await (before ? updateOrganization(tx, after) : insertOrganization(tx, after));
  },

  async remove() {},
};
