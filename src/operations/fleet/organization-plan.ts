import { isKeyRole } from '../../kernel/access/roles.ts';
import type { Violation } from '../../kernel/errors.ts';
import type { Actor, Change } from '../../management/audit/activity.ts';
import { readLockedThrough } from '../../management/billing/metering/store.ts';
import type { Key } from '../../management/keys/key.ts';
import type { MemberRule, Organization } from '../../management/organizations/organization.ts';
import { isBuiltIn } from '../../observability/sources/source-rules.ts';
import type { Db } from '../../platform/state/tables.ts';
import { toChanges } from './activities.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind, type VersionedDashboard } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Context, Kind, Pair } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { roleKind } from './kinds/role.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import { createStep, listViolations, planKind, type Step } from './plan.ts';
import { inSteps } from './progress.ts';
import type { Declared, DeclaredOrganization } from './resource.ts';
import { type AppliedDocument, deleteDocument, listDocuments, putDocuments } from './store.ts';

export interface OrganizationPlan {
  steps: Step[];
  violations: Violation[];
  warnings: string[];
  changes: Change[];
  /** The number of resources that `store` reports. */
  storedCount: number;
  store(tx: Db, report: (count: number) => void): Promise<void>;
}

/** The plan for one kind of resource. */
interface KindPlan<T> {
  steps: Step[];
  pairs: Pair<T>[];
  result: Map<string, T>;
  changes: Change[];
  violations(): Violation[];
  store(tx: Db, report: (count: number) => void): Promise<void>;
}

/** Plans all changes of one organization. The caller checks the violations of all plans before it stores any. */
export async function planOrganization(
  tx: Db,
  { organization: declared, resources }: DeclaredOrganization,
  now: number,
  actor: Actor,
  { force = false, prune = false, isDeclaration = true },
): Promise<OrganizationPlan> {
  const documents = await listDocuments(tx, declared.id);
  const context: Context = {
    organization: { id: declared.id } as Organization,
    now,
    actor,
    services: new Map(),
    lockedThrough: await readLockedThrough(tx, declared.id),
  };
  const organization = await plan(organizationKind, [declared], false);
  context.organization = organization.result.get(declared.id) ?? context.organization;
  // A change of tier or payment may violate a rule for services that the file does not change.
  const isCheckedWhole = organization.pairs.length > 0;

  const services = await plan(serviceKind, declaredAs('service'), prune);
  context.services = services.result;
  const sources = await plan(sourceKind, declaredAs('source'), prune);
  const dashboards = await plan(dashboardKind, declaredAs('dashboard'), prune);
  const roles = await plan(roleKind, declaredAs('role'), prune);
  const keys = await plan(keyKind, declaredAs('key'), prune);
  const kinds = [
    organization,
    services,
    roles,
    keys,
    await plan(tokenKind, declaredAs('token'), prune),
    sources,
    dashboards,
    await plan(costKind, declaredAs('cost'), prune),
  ];

  return {
    steps: kinds.flatMap(({ steps }) => steps),
    violations: [
      ...kinds.flatMap(({ violations }) => violations()),
      ...listMissingRoles(keys.result, roles.result, declared.path),
      ...listMissingRuleRoles(context.organization.memberRules, roles.result, declared.path),
    ],
    warnings: listMissingSources(dashboards.pairs, sources.result, declared.path),
    changes: kinds.flatMap(({ changes }) => changes),
    storedCount: kinds.reduce((count, { pairs }) => count + pairs.length, 0),
    async store(tx, report) {
      for (const kind of kinds) await kind.store(tx, report);
      if (isDeclaration) await putDocuments(tx, declared.id, newDocuments([declared, ...resources], documents));
    },
  };

  function declaredAs(kind: Declared['kind']): Declared[] {
    return resources.filter((resource) => resource.kind === kind);
  }

  async function plan<T>(kind: Kind<T>, declarations: readonly Declared[], isPruning: boolean): Promise<KindPlan<T>> {
    const applied = new Map(
      documents.filter((document) => document.kind === kind.name).map(({ id, fields }) => [id, fields]),
    );
    const ids = new Set(declarations.map(({ id }) => id));
    const pruned = isPruning
      ? [...applied]
          .filter(([id]) => !ids.has(id))
          .map(([id, fields]) => ({ kind: kind.name, id, path: declared.path, fields }))
      : [];
    const current = await kind.load(tx, declared.id, [...declarations, ...pruned]);
    const removed = pruned.flatMap(({ id }) => {
      const resource = current.get(id);
      return resource === undefined ? [] : [{ id, resource }];
    });
    for (const { id } of removed) current.delete(id);
    if (kind.name === 'service') context.services = new Map(current) as never;
    const outcome = planKind(kind, declarations, current, applied, context, force);
    const steps = [
      ...outcome.steps,
      ...removed.map(({ id, resource }) => createStep(kind, context, id, 'remove', resource, undefined)),
    ];
    return {
      steps,
      pairs: outcome.pairs,
      result: outcome.result,
      changes: toChanges(kind.activities, steps),
      violations: () => [
        ...listViolations(
          kind,
          declarations,
          isCheckedWhole ? pairAll(outcome.result, current) : outcome.pairs,
          context,
          declared.path,
        ),
        ...removed
          .flatMap(({ resource }) => kind.removalViolations?.(resource) ?? [])
          .map((violation) => ({ ...violation, path: `${declared.path}.${violation.path}` })),
      ],
      async store(tx, report) {
        for (const { resource } of removed) await kind.remove(tx, resource, context);
        for (const { id } of pruned) await deleteDocument(tx, declared.id, kind.name, id);
        await inSteps(outcome.pairs, (part) => kind.save(tx, part, context), report);
      },
    };
  }
}

const pairAll = <T>(result: ReadonlyMap<string, T>, current: ReadonlyMap<string, T>): Pair<T>[] =>
  [...result].map(([id, after]) => ({ id, before: current.get(id), after }));

function newDocuments(declared: readonly Declared[], documents: readonly AppliedDocument[]): AppliedDocument[] {
  const applied = new Map(documents.map(({ kind, id, fields }) => [`${kind} ${id}`, JSON.stringify(fields)]));
  return declared.filter(({ kind, id, fields }) => applied.get(`${kind} ${id}`) !== JSON.stringify(fields));
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

/** A warning, not a violation as in the API: the source may be declared later. */
function listMissingSources(
  dashboards: readonly Pair<VersionedDashboard>[],
  sources: ReadonlyMap<string, unknown>,
  path: string,
): string[] {
  const series = dashboards.flatMap(({ after }) => after.dashboard.tiles.flatMap((tile) => tile.series));
  const missing = new Set(
    series.flatMap(({ sourceId }) => (sourceId && !sources.has(sourceId) && !isBuiltIn(sourceId) ? [sourceId] : [])),
  );
  return [...missing].map((id) => `${path}.dashboards: the source ${id} does not exist`);
}
