import type { Actor, Change } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError, refuse, type Violation } from '../kernel/errors.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { isUniqueViolation } from '../state/failures.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { exportFleet } from './export.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Context, Kind } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import { judge, type Outcome, planKind, type Step, stepOf } from './plan.ts';
import { declaredIn, type DeclaredOrganization, type Declared, type Fields } from './resource.ts';
import type { FleetFile } from './schema.ts';
import { deleteDocument, listDocuments, putDocuments, takeTurn } from './store.ts';

export type Fleet = ReturnType<typeof createFleet>;

export interface ApplyOptions {
  /** Only say what would happen. */
  dryRun?: boolean;
  /** The file wins over everything that the API changed since. */
  force?: boolean;
  /** Remove what an earlier version of the file declared and this one does not. */
  prune?: boolean;
}

export interface Applied {
  steps: Step[];
  warnings: string[];
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
}

/** Services first, costs last: a kind may look at those before it. */
const KINDS: Kind<never>[] = [serviceKind, keyKind, tokenKind, sourceKind, dashboardKind, costKind] as never;

interface Work {
  kind: Kind<never>;
  declared: Declared[];
  current: Map<string, never>;
  outcome: Outcome<never>;
  /** Removed with `prune`: what is stored, and the ids of everything that the file says nothing about any more. */
  leaving: [string, never][];
  gone: string[];
}

/** Ends a transaction without leaving anything behind. */
class DryRun extends Error {}

export function createFleet({ state, clock, audit, organizations }: Options) {
  /** All or nothing: every mistake is listed, and none of the file is stored when there is one. */
  async function apply(file: FleetFile, actor: Actor, options: ApplyOptions = {}): Promise<Applied> {
    const { organizations: declared, violations } = declaredIn(file);
    refuse(violations);
    let applied: Applied = { steps: [], warnings: [] };
    try {
      await state.write(async (tx) => {
        applied = { steps: [], warnings: [] };
        await takeTurn(tx);
        const found: Violation[] = [];
        const planned = [];
        for (const one of declared) planned.push(await planOrganization(tx, one, options, found));
        refuse(found);
        for (const plan of planned) {
          applied.steps.push(...plan.steps);
          applied.warnings.push(...plan.warnings);
          await plan.store(tx, actor);
        }
        if (options.dryRun) throw new DryRun();
      });
    } catch (error) {
      if (isUniqueViolation(error)) throw new AppError('conflict', 'The file declares an id or a credential that another organization has already', { cause: error });
      if (!(error instanceof DryRun)) throw error;
    }
    return applied;
  }

  async function planOrganization(tx: Db, { organization: declared, resources }: DeclaredOrganization, { force = false, prune = false }: ApplyOptions, violations: Violation[]) {
    const stored = await organizationKind.load(tx, declared.id, [declared]);
    if (stored.size > 0) await organizations.take(tx, declared.id);
    const documents = await listDocuments(tx, declared.id);
    const appliedOf = (kind: string) => new Map(documents.filter((document) => document.kind === kind).map(({ id, fields }) => [id, fields]));
    const now = clock.now();
    const nobody = { id: declared.id } as Context['organization'];
    const own = planKind(organizationKind, [declared], stored, appliedOf('organization'), { organization: nobody, now, services: new Map() }, force);
    const organization = own.result.get(declared.id) ?? nobody;
    const context: Context = { organization, now, services: new Map() };

    const works: Work[] = [];
    for (const kind of KINDS) {
      const mine = resources.filter((resource) => resource.kind === kind.name);
      const appliedFields = appliedOf(kind.name);
      const gone = prune ? [...appliedFields.keys()].filter((id) => !mine.some((resource) => resource.id === id)) : [];
      const lost = gone.map((id) => ({ kind: kind.name, id, path: declared.path, fields: appliedFields.get(id) ?? {} }));
      const current = await kind.load(tx, declared.id, [...mine, ...lost]);
      const leaving = gone.flatMap((id): [string, never][] => {
        const resource = current.get(id);
        return resource === undefined ? [] : [[id, resource]];
      });
      if (kind.name === 'service') context.services = new Map([...current].filter(([id]) => !gone.includes(id)));
      const outcome = planKind(kind, mine, current, appliedFields, context, force);
      for (const [id] of leaving) outcome.result.delete(id);
      if (kind.name === 'service') context.services = outcome.result;
      works.push({ kind, declared: mine, current, outcome, leaving, gone });
      refuseLockedRemovals(kind, leaving, declared.path, violations);
    }
    for (const { kind, declared: mine, outcome } of works) violations.push(...judge(kind, mine, outcome, context));

    const steps = [...own.steps, ...works.flatMap(({ outcome }) => outcome.steps)];
    const removals = works.flatMap(({ kind, leaving }) => leaving.map(([id, resource]) => stepOf(kind, context, id, 'remove', resource, undefined)));

    return {
      steps: [...steps, ...removals],
      warnings: unknownSources(works, declared.path),
      async store(tx: Db, actor: Actor): Promise<void> {
        await organizationKind.save(tx, own.pairs, context);
        for (const { kind, outcome, leaving, gone } of works) {
          for (const [, resource] of leaving) await kind.remove(tx, resource, context);
          for (const id of gone) await deleteDocument(tx, declared.id, kind.name, id);
          if (outcome.pairs.length > 0) await kind.save(tx, outcome.pairs, context);
          if (kind.name === 'cost' && outcome.pairs.length + leaving.length > 0) await organizations.costsChanged(tx, declared.id);
        }
        await putDocuments(tx, declared.id, newDocuments([declared, ...resources], documents));
        for (const change of changesOf([...steps, ...removals])) await audit.record(tx, actor, change);
      },
    };
  }

  return {
    apply,

    /** The whole state as a file; applying it to the same store changes nothing. */
    export: (): Promise<FleetFile> => exportFleet(state.db, { organization: organizationKind, others: KINDS }),
  };
}

function newDocuments(declared: readonly Declared[], documents: readonly { kind: string; id: string; fields: Fields }[]) {
  const known = new Map(documents.map(({ kind, id, fields }) => [`${kind} ${id}`, JSON.stringify(fields)]));
  return declared.filter(({ kind, id, fields }) => known.get(`${kind} ${id}`) !== JSON.stringify(fields));
}

function refuseLockedRemovals(kind: Kind<never>, leaving: [string, never][], path: string, violations: Violation[]): void {
  if (kind.name !== 'cost') return;
  for (const [id, cost] of leaving as unknown as [string, { isLocked: boolean }][]) {
    if (cost.isLocked) violations.push({ path: `${path}.usageCosts`, rule: 'A locked record cannot be removed', value: id });
  }
}

/** A dashboard may refer to a source that comes later; a file gets a warning where the API would refuse. */
function unknownSources(works: readonly Work[], path: string): string[] {
  const resultOf = (name: string) => (works.find(({ kind }) => kind.name === name)?.outcome.result ?? new Map()) as Map<string, never>;
  const known = resultOf('source');
  const dashboards = works.find(({ kind }) => kind.name === 'dashboard')?.outcome.pairs ?? [];
  const used = dashboards.flatMap(({ after }) => (after as { tiles: { series: { sourceId?: string }[] }[] }).tiles.flatMap(({ series }) => series.map(({ sourceId }) => sourceId)));
  const missing = new Set(used.filter((id): id is string => id !== undefined && id !== '' && !known.has(id)));
  return [...missing].map((id) => `${path}.dashboards: the source ${id} is not known`);
}

/** One activity per change; a ledger that is imported in bulk gets one for all of it. */
function changesOf(steps: readonly Step[]): Change[] {
  const kinds = new Map<string, Kind<never>>([organizationKind as never, ...KINDS].map((kind: Kind<never>) => [kind.name, kind]));
  const bulk = new Map<string, { change: Change; counts: { added: number; changed: number; removed: number } }>();
  const changes: Change[] = [];
  for (const { action, kind, organizationId, id, before, after } of steps) {
    const activities = kinds.get(kind)?.activities;
    if (action === 'unchanged' || !activities) continue;
    if ('bulk' in activities) {
      const counts = bulk.get(kind)?.counts ?? { added: 0, changed: 0, removed: 0 };
      counts[action === 'add' ? 'added' : action === 'change' ? 'changed' : 'removed']++;
      bulk.set(kind, { counts, change: { organizationId, type: activities.bulk, resource: { type: kind, id: organizationId }, after: counts } });
    } else {
      const type = { add: activities.create, change: activities.update, remove: activities.remove }[action];
      changes.push({ organizationId, type, resource: { type: kind, id }, ...(kind === 'service' ? { serviceId: id } : {}), before, after });
    }
  }
  return [...changes, ...[...bulk.values()].map(({ change }) => change)];
}
