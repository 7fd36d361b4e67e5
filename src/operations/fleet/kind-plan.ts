import type { Violation } from '../../kernel/errors.ts';
import type { Change } from '../../management/audit/activity.ts';
import type { Db } from '../../platform/state/tables.ts';
import { toChanges } from './activities.ts';
import type { Declared } from './declared.ts';
import type { Context, Kind, Pair } from './kinds/kind.ts';
import { createStep, listViolations, planKind, type Step } from './plan.ts';
import { inSteps } from './progress.ts';
import { type AppliedDocument, deleteDocument } from './store.ts';

/** The plan for one kind of resource. */
export interface KindPlan<T> {
  steps: Step[];
  pairs: Pair<T>[];
  /** All resources of the kind after the change, by id. */
  result: Map<string, T>;
  changes: Change[];
  /** `isWhole`: also of resources that do not change. */
  violations(isWhole?: boolean): Violation[];
  store(tx: Db, report: (count: number) => void): Promise<void>;
}

interface Options {
  tx: Db;
  organizationId: string;
  /** Of the organization in the file. */
  path: string;
  /** What was declared when the file was last applied. */
  documents: readonly AppliedDocument[];
  /** Of the documents of a kind. Files with different prefixes do not know the declarations of each other. */
  prefix?: string;
  context: Context;
  force: boolean;
  resources: readonly Declared[];
}

/** Plans the kinds of one organization, one after the other. */
export function createKindPlanner(options: Options) {
  const { tx, organizationId, path, documents, prefix = '', context, force, resources } = options;

  return async function plan<T>(
    kind: Kind<T>,
    prune: boolean,
    declarations: readonly Declared[] = resources.filter((resource) => resource.kind === kind.name),
  ): Promise<KindPlan<T>> {
    const documentKind = prefix + kind.name;
    const applied = new Map(
      documents.filter((document) => document.kind === documentKind).map(({ id, fields }) => [id, fields]),
    );
    const ids = new Set(declarations.map(({ id }) => id));
    const pruned = prune
      ? [...applied].filter(([id]) => !ids.has(id)).map(([id, fields]) => ({ kind: kind.name, id, path, fields }))
      : [];
    const current = await kind.load(tx, organizationId, [...declarations, ...pruned]);
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
      violations: (isWhole = false) => [
        ...listViolations(
          kind,
          declarations,
          isWhole ? pairAll(outcome.result, current) : outcome.pairs,
          context,
          path,
        ),
        ...removed
          .flatMap(({ resource }) => kind.removalViolations?.(resource) ?? [])
          .map((violation) => ({ ...violation, path: joinPath(path, violation.path) })),
      ],
      async store(tx, report) {
        for (const { resource } of removed) await kind.remove(tx, resource, context);
        for (const { id } of pruned) await deleteDocument(tx, organizationId, documentKind, id);
        await inSteps(outcome.pairs, (part) => kind.save(tx, part, context), report);
      },
    };
  };
}

export const joinPath = (path: string, member: string): string => (path === '' ? member : `${path}.${member}`);

const pairAll = <T>(result: ReadonlyMap<string, T>, current: ReadonlyMap<string, T>): Pair<T>[] =>
  [...result].map(([id, after]) => ({ id, before: current.get(id), after }));
