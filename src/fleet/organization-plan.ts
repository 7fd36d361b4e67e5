import type { Actor, Change } from '../audit/activity.ts';
import { readLockedThrough } from '../billing/metering/store.ts';
import type { Violation } from '../kernel/errors.ts';
import type { Organization } from '../organizations/organization.ts';
import { isBuiltIn } from '../sources/source-rules.ts';
import type { Db } from '../state/tables.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind, type VersionedDashboard } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Context, Kind, Pair } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import { judge, planKind, type Step, stepOf } from './plan.ts';
import type { Declared, DeclaredOrganization } from './resource.ts';
import { type AppliedDocument, deleteDocument, listDocuments, putDocuments } from './store.ts';
import { changesOf } from './trail.ts';

interface OrganizationPlan {
  steps: Step[];
  violations: Violation[];
  warnings: string[];
  changes: Change[];
  store(tx: Db): Promise<void>;
}

/** What one kind of resource comes to. */
interface KindPlan<T> {
  steps: Step[];
  pairs: Pair<T>[];
  result: Map<string, T>;
  changes: Change[];
  violations(): Violation[];
  store(tx: Db): Promise<void>;
}

/** Everything that the file means for one organization: looked at first, judged, and stored only then. */
export async function planOrganization(
  tx: Db,
  { organization: declared, resources }: DeclaredOrganization,
  now: number,
  actor: Actor,
  { force = false, prune = false },
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
  // A change of tier or payment may break a rule for services that the file leaves alone.
  const isJudgedWhole = organization.pairs.length > 0;

  const services = await plan(serviceKind, declaredAs('service'), prune);
  context.services = services.result;
  const sources = await plan(sourceKind, declaredAs('source'), prune);
  const dashboards = await plan(dashboardKind, declaredAs('dashboard'), prune);
  const kinds = [
    organization,
    services,
    await plan(keyKind, declaredAs('key'), prune),
    await plan(tokenKind, declaredAs('token'), prune),
    sources,
    dashboards,
    await plan(costKind, declaredAs('cost'), prune),
  ];

  return {
    steps: kinds.flatMap(({ steps }) => steps),
    violations: kinds.flatMap(({ violations }) => violations()),
    warnings: unknownSources(dashboards.pairs, sources.result, declared.path),
    changes: kinds.flatMap(({ changes }) => changes),
    async store(tx) {
      for (const kind of kinds) await kind.store(tx);
      await putDocuments(tx, declared.id, newDocuments([declared, ...resources], documents));
    },
  };

  function declaredAs(kind: Declared['kind']): Declared[] {
    return resources.filter((resource) => resource.kind === kind);
  }

  async function plan<T>(kind: Kind<T>, mine: readonly Declared[], isPruned: boolean): Promise<KindPlan<T>> {
    const applied = new Map(
      documents.filter((document) => document.kind === kind.name).map(({ id, fields }) => [id, fields]),
    );
    const ids = new Set(mine.map(({ id }) => id));
    const gone = isPruned
      ? [...applied]
          .filter(([id]) => !ids.has(id))
          .map(([id, fields]) => ({ kind: kind.name, id, path: declared.path, fields }))
      : [];
    const current = await kind.load(tx, declared.id, [...mine, ...gone]);
    const leaving = gone.flatMap(({ id }) => {
      const resource = current.get(id);
      return resource === undefined ? [] : [{ id, resource }];
    });
    for (const { id } of leaving) current.delete(id);
    if (kind.name === 'service') context.services = new Map(current) as never;
    const outcome = planKind(kind, mine, current, applied, context, force);
    const steps = [
      ...outcome.steps,
      ...leaving.map(({ id, resource }) => stepOf(kind, context, id, 'remove', resource, undefined)),
    ];
    return {
      steps,
      pairs: outcome.pairs,
      result: outcome.result,
      changes: changesOf(kind.activities, steps),
      violations: () => [
        ...judge(kind, mine, isJudgedWhole ? wholeOf(outcome.result, current) : outcome.pairs, context, declared.path),
        ...leaving
          .flatMap(({ resource }) => kind.removalViolations?.(resource) ?? [])
          .map((violation) => ({ ...violation, path: `${declared.path}.${violation.path}` })),
      ],
      async store(tx) {
        for (const { resource } of leaving) await kind.remove(tx, resource, context);
        for (const { id } of gone) await deleteDocument(tx, declared.id, kind.name, id);
        if (outcome.pairs.length > 0) await kind.save(tx, outcome.pairs, context);
      },
    };
  }
}

const wholeOf = <T>(result: ReadonlyMap<string, T>, current: ReadonlyMap<string, T>): Pair<T>[] =>
  [...result].map(([id, after]) => ({ id, before: current.get(id), after }));

function newDocuments(declared: readonly Declared[], documents: readonly AppliedDocument[]): AppliedDocument[] {
  const known = new Map(documents.map(({ kind, id, fields }) => [`${kind} ${id}`, JSON.stringify(fields)]));
  return declared.filter(({ kind, id, fields }) => known.get(`${kind} ${id}`) !== JSON.stringify(fields));
}

/** A dashboard may refer to a source that comes later: a file gets a warning where the API would refuse. */
function unknownSources(
  dashboards: readonly Pair<VersionedDashboard>[],
  known: ReadonlyMap<string, unknown>,
  path: string,
): string[] {
  const series = dashboards.flatMap(({ after }) => after.dashboard.tiles.flatMap((tile) => tile.series));
  const missing = new Set(
    series.flatMap(({ sourceId }) => (sourceId && !known.has(sourceId) && !isBuiltIn(sourceId) ? [sourceId] : [])),
  );
  return [...missing].map((id) => `${path}.dashboards: the source ${id} is not known`);
}
