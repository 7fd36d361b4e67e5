import { isKeyRole } from '../../kernel/access/roles.ts';
import { formatViolation, type Violation } from '../../kernel/errors.ts';
import type { Actor, Change } from '../../management/audit/activity.ts';
import { readLockedThrough } from '../../management/billing/metering/store.ts';
import type { Key } from '../../management/keys/key.ts';
import type { MemberRule, Organization } from '../../management/organizations/organization.ts';
import { isBuiltIn } from '../../observability/sources/source-rules.ts';
import type { Db } from '../../platform/state/tables.ts';
import { planAlerting } from './alerting/alerting-plan.ts';
import { createKindPlanner, type KindPlan } from './kind-plan.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind, type VersionedDashboard } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Context, Pair } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { roleKind } from './kinds/role.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import type { Step } from './plan.ts';
import { NO_TARGETS } from './references.ts';
import type { DeclaredOrganization } from './resource.ts';
import { listDocuments, putNewDocuments } from './store.ts';

export interface OrganizationPlan {
  steps: Step[];
  violations: Violation[];
  warnings: string[];
  changes: Change[];
  /** The number of resources that `store` reports. */
  storedCount: number;
  store(tx: Db, report: (count: number) => void): Promise<void>;
}

interface Options {
  now: number;
  actor: Actor;
  alertRemoval: Context['alertRemoval'];
  force?: boolean;
  prune?: boolean;
  isDeclaration?: boolean;
}

/** Plans all changes of one organization. The caller checks the violations of all plans before it stores any. */
export async function planOrganization(
  tx: Db,
  { organization: declared, resources }: DeclaredOrganization,
  { now, actor, alertRemoval, force = false, prune = false, isDeclaration = true }: Options,
): Promise<OrganizationPlan> {
  const { id: organizationId, path } = declared;
  const documents = await listDocuments(tx, organizationId);
  const context: Context = {
    organization: { id: organizationId } as Organization,
    now,
    actor,
    services: new Map(),
    targets: NO_TARGETS,
    alertRemoval,
    lockedThrough: await readLockedThrough(tx, organizationId),
  };
  const plan = createKindPlanner({ tx, organizationId, path, documents, context, force, resources });
  const organization = await plan(organizationKind, false, [declared]);
  context.organization = organization.result.get(organizationId) ?? context.organization;
  // A change of tier or payment may violate a rule for services that the file does not change.
  const isCheckedWhole = organization.pairs.length > 0;

  const services = await plan(serviceKind, prune);
  context.services = services.result;
  const roles = await plan(roleKind, prune);
  const keys = await plan(keyKind, prune);
  const tokens = await plan(tokenKind, prune);
  const sources = await plan(sourceKind, prune);
  const dashboards = await plan(dashboardKind, prune);
  const alerting = await planAlerting(plan, context, dashboards.result, { resources, path, prune });
  const costs = await plan(costKind, prune);
  const kinds: Omit<KindPlan<unknown>, 'result'>[] = [
    organization,
    services,
    roles,
    keys,
    tokens,
    sources,
    dashboards,
    ...alerting.kinds,
    costs,
  ];

  return {
    steps: kinds.flatMap(({ steps }) => steps),
    violations: [
      ...kinds.flatMap(({ violations }) => violations(isCheckedWhole)),
      ...listMissingRoles(keys.result, roles.result, path),
      ...listMissingRuleRoles(context.organization.memberRules, roles.result, path),
      ...alerting.violations(),
    ],
    warnings: [
      ...listMissingSources(path, listDashboardSources(dashboards.pairs), sources.result),
      ...alerting.listMissingSources(sources.result).map(formatViolation),
    ],
    changes: kinds.flatMap(({ changes }) => changes),
    storedCount: kinds.reduce((count, { pairs }) => count + pairs.length, 0),
    async store(tx, report) {
      // The organization before all, and alerts before what they refer to: a removed tile removes its alerts.
      await organization.store(tx, report);
      await alerting.alerts.store(tx, report);
      for (const kind of kinds) if (kind !== organization && kind !== alerting.alerts) await kind.store(tx, report);
      if (isDeclaration) await putNewDocuments(tx, organizationId, [declared, ...alerting.resources], documents);
    },
  };
}

/** A member rule gives a role that nothing declares, or that `prune` would remove. */
const listMissingRuleRoles = (
  rules: readonly MemberRule[],
  roles: ReadonlyMap<string, unknown>,
  path: string,
): Violation[] =>
  rules.flatMap((rule, index) =>
    rule.roles
      .filter((role) => !isKeyRole(role) && !roles.has(role))
      .map((role) => ({ path: `${path}.memberRules[${index}].roles`, rule: 'The role does not exist', value: role })),
  );

/** A key has a role that the file names and nothing declares, or that `prune` would remove. */
const listMissingRoles = (
  keys: ReadonlyMap<string, Key>,
  roles: ReadonlyMap<string, unknown>,
  path: string,
): Violation[] =>
  [...keys.values()].flatMap(({ name, customRoleIds = [] }) =>
    customRoleIds
      .filter((id) => !roles.has(id))
      .map((id) => ({ path: `${path}.keys`, rule: `The key ${name} has a role that does not exist`, value: id })),
  );

const listDashboardSources = (dashboards: readonly Pair<VersionedDashboard>[]) =>
  dashboards.flatMap(({ after }) =>
    after.dashboard.tiles.flatMap(({ series }) => series.map(({ sourceId }) => sourceId)),
  );

/** A warning, not a violation as in the API: the source may be declared later. */
function listMissingSources(
  path: string,
  ids: readonly (string | undefined)[],
  sources: ReadonlyMap<string, unknown>,
): string[] {
  const missing = new Set(ids.filter((id) => id && !sources.has(id) && !isBuiltIn(id)));
  return [...missing].map((id) => `${path}.dashboards: the source ${id} does not exist`);
}
