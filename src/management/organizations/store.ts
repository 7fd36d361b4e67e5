import { lockRows } from '../../platform/state/locking.ts';
import { prepared } from '../../platform/state/prepared.ts';
import type { Db, OrganizationRow } from '../../platform/state/tables.ts';
import type { LockedOrganization, Organization, Tier } from './organization.ts';

const toOrganization = (
  row: OrganizationRow & {
    telemetry_retention: string;
    telemetry_limits: string;
    telemetry_rules: string;
    member_rules: string;
    keep_sql_literals: number;
  },
): Organization => ({
  id: row.id,
  name: row.name,
  tier: row.tier as Tier,
  isPaid: row.paid === 1,
  createdAt: row.created_at,
  costRevision: row.cost_revision,
  telemetryRetention: JSON.parse(row.telemetry_retention),
  telemetryLimits: JSON.parse(row.telemetry_limits),
  telemetryRules: JSON.parse(row.telemetry_rules),
  memberRules: JSON.parse(row.member_rules),
  keepsSqlLiterals: row.keep_sql_literals === 1,
});

const selectById = prepared((db: Db, value: { id: string }) =>
  db.selectFrom('organizations').selectAll().where('id', '=', value.id),
);

const selectAndLock = prepared((db: Db, value: { id: string }) =>
  lockRows(db, db.selectFrom('organizations').select(['tier', 'paid', 'cost_revision']).where('id', '=', value.id)),
);

export async function findOrganization(db: Db, id: string): Promise<Organization | undefined> {
  const row = await selectById.first(db, { id });
  return row && toOrganization(row);
}

export async function hasOrganization(db: Db): Promise<boolean> {
  return (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Organizations with a retention of their own. */
export async function listTelemetryRetentions(db: Db): Promise<Organization[]> {
  const rows = await db.selectFrom('organizations').selectAll().where('telemetry_retention', '<>', '{}').execute();
  return rows.map(toOrganization);
}

/** Organizations with member rules. */
export async function listMemberRules(db: Db): Promise<Organization[]> {
  const rows = await db.selectFrom('organizations').selectAll().where('member_rules', '<>', '[]').execute();
  return rows.map(toOrganization);
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  const rows = await db.selectFrom('organizations').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toOrganization);
}

/** Locks the organization's row until the transaction ends. */
export async function lockOrganization(tx: Db, id: string): Promise<LockedOrganization | undefined> {
  const row = await selectAndLock.first(tx, { id });
  return row && { tier: row.tier as Tier, isPaid: row.paid === 1, costRevision: row.cost_revision };
}

type NewOrganization = Pick<Organization, 'id' | 'name' | 'tier' | 'isPaid' | 'createdAt'> & Partial<Organization>;

export async function insertOrganization(tx: Db, organization: NewOrganization): Promise<void> {
  const {
    id,
    name,
    tier,
    isPaid,
    createdAt,
    telemetryRetention = {},
    telemetryLimits = {},
    telemetryRules = [],
    memberRules = [],
    keepsSqlLiterals = false,
  } = organization;
  await tx
    .insertInto('organizations')
    .values({
      id,
      name,
      tier,
      paid: isPaid ? 1 : 0,
      created_at: createdAt,
      key_count: 0,
      cost_revision: 1,
      dashboard_revision: 1,
      dashboard_count: 0,
      dashboard_bytes: 0,
      counted_revision: 1,
      telemetry_retention: JSON.stringify(telemetryRetention),
      telemetry_limits: JSON.stringify(telemetryLimits),
      telemetry_rules: JSON.stringify(telemetryRules),
      member_rules: JSON.stringify(memberRules),
      keep_sql_literals: keepsSqlLiterals ? 1 : 0,
    })
    .execute();
}

export async function updateOrganization(tx: Db, organization: Organization): Promise<void> {
  const { id, name, tier, isPaid, createdAt, telemetryRetention, telemetryLimits, telemetryRules, memberRules } =
    organization;
  const { keepsSqlLiterals } = organization;
  const telemetry_retention = JSON.stringify(telemetryRetention);
  const member_rules = JSON.stringify(memberRules);
  await tx
    .updateTable('organizations')
    .set({
      name,
      tier,
      paid: isPaid ? 1 : 0,
      created_at: createdAt,
      telemetry_retention,
      telemetry_limits: JSON.stringify(telemetryLimits),
      telemetry_rules: JSON.stringify(telemetryRules),
      member_rules,
      keep_sql_literals: keepsSqlLiterals ? 1 : 0,
    })
    .where('id', '=', id)
    .execute();
}

/** Invalidates everything rendered from the organization's cost ledger, on every node. */
export async function bumpCostRevision(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('organizations')
    .set((eb) => ({ cost_revision: eb('cost_revision', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Invalidates everything rendered from the organization's dashboards and sources, on every node; `added` may be negative. */
export async function bumpDashboardRevision(tx: Db, id: string, added = { count: 0, bytes: 0 }): Promise<void> {
  await tx
    .updateTable('organizations')
    .set((eb) => ({
      dashboard_revision: eb('dashboard_revision', '+', 1),
      dashboard_count: eb('dashboard_count', '+', added.count),
      dashboard_bytes: eb('dashboard_bytes', '+', added.bytes),
      // Stays behind if it is behind.
      counted_revision: eb('counted_revision', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
}

/** The number and the size of the dashboards. Undefined if they have to be counted. */
export async function findDashboardCount(tx: Db, id: string): Promise<{ count: number; bytes: number } | undefined> {
  return tx
    .selectFrom('organizations')
    .select(['dashboard_count as count', 'dashboard_bytes as bytes'])
    .where('id', '=', id)
    .where((is) => is('counted_revision', '=', is.ref('dashboard_revision')))
    .executeTakeFirst();
}

export async function setDashboardCount(tx: Db, id: string, { count, bytes }: { count: number; bytes: number }) {
  await tx
    .updateTable('organizations')
    .set((eb) => ({ dashboard_count: count, dashboard_bytes: bytes, counted_revision: eb.ref('dashboard_revision') }))
    .where('id', '=', id)
    .execute();
}
