import type { Violation } from '../../kernel/errors.ts';
import { difference } from '../../management/audit/activity.ts';
import type { Declared, Fields, KindName } from './declared.ts';
import type { Context, Kind, Pair } from './kinds/kind.ts';

/** One entry of a plan. */
export interface Step {
  action: 'add' | 'change' | 'remove' | 'unchanged';
  kind: KindName;
  organizationId: string;
  id: string;
  name: string;
  /** The fields that differ; never a credential or its hash. */
  before?: Fields | undefined;
  after?: Fields | undefined;
}

interface Outcome<T> {
  steps: Step[];
  pairs: Pair<T>[];
  /** All resources of the kind after the change, by id. */
  result: Map<string, T>;
}

/**
 * A three-way merge of the file as last applied, the file now, and the stored resources. A field that changed in the
 * file gets the value from the file; every other field keeps its stored value. With `force`, the file always wins.
 */
export function planKind<T>(
  kind: Kind<T>,
  declared: readonly Declared[],
  current: ReadonlyMap<string, T>,
  applied: ReadonlyMap<string, Fields>,
  context: Context,
  force: boolean,
): Outcome<T> {
  const result = new Map(current);
  const outcome: Outcome<T> = { steps: [], pairs: [], result };
  for (const declaration of declared) {
    const { id } = declaration;
    const before = current.get(id);
    const after = merge(kind, declaration, before, applied.get(id), context, force);
    if (after === undefined) {
      outcome.steps.push(createStep(kind, context, id, 'unchanged', undefined, undefined));
      continue;
    }
    result.set(id, after);
    if (before !== undefined && isSame(kind, before, after)) {
      outcome.steps.push(createStep(kind, context, id, 'unchanged', before, before));
    } else {
      outcome.pairs.push({ id, before, after });
      outcome.steps.push(createStep(kind, context, id, before ? 'change' : 'add', before, after));
    }
  }
  return outcome;
}

/** Undefined for a resource deleted over the API: it stays deleted until its declaration changes. */
function merge<T>(
  kind: Kind<T>,
  { id, fields, fallback }: Declared,
  before: T | undefined,
  last: Fields | undefined,
  context: Context,
  force: boolean,
): T | undefined {
  const changes = force ? fields : changedFields(last, fields);
  if (before) return kind.build(id, { ...kind.toFields(before), ...changes }, context, before, fields);
  if (last && Object.keys(changes).length === 0) return undefined;
  return kind.build(id, { ...fallback, ...kind.defaults(fields, context), ...fields }, context, undefined, fields);
}

const isSame = <T>(kind: Kind<T>, before: T, after: T): boolean =>
  JSON.stringify(kind.toFields(before)) === JSON.stringify(kind.toFields(after));

/** Runs after everything is planned: a rule may depend on resources further down in the file. */
export function listViolations<T>(
  kind: Kind<T>,
  declared: readonly Declared[],
  pairs: readonly Pair<T>[],
  context: Context,
  organizationPath: string,
): Violation[] {
  const byId = new Map(declared.map((declaration) => [declaration.id, declaration]));
  return pairs.flatMap((pair) => {
    const { path = `${organizationPath}.${kind.name}(${pair.id})`, aliases = {} } = byId.get(pair.id) ?? {};
    return kind.violations(pair, context).map((violation) => {
      const { name, times } = aliases[violation.path] ?? { name: violation.path, times: 1 };
      const value = typeof violation.value === 'number' ? violation.value * times : violation.value;
      return { ...violation, path: `${path}.${name}`, value };
    });
  });
}

function changedFields(last: Fields | undefined, fields: Fields): Fields {
  if (!last) return fields;
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(last[name])),
  );
}

export function createStep<T>(
  kind: Kind<T>,
  { organization }: Context,
  id: string,
  action: Step['action'],
  before: T | undefined,
  after: T | undefined,
): Step {
  const toPublicFields = (resource: T | undefined): Fields =>
    resource ? removeHashes((kind.toAuditFields ?? kind.toFields)(resource)) : {};
  const resource = after ?? before;
  const { name, entityName, date } = resource ? kind.toFields(resource) : {};
  const changed = difference(toPublicFields(before), toPublicFields(after));
  return {
    action,
    kind: kind.name,
    organizationId: organization.id,
    id,
    name: kind.name === 'cost' ? `${date ?? id} ${entityName ?? ''}`.trim() : String(name ?? id),
    before: before ? changed.before : undefined,
    after: after ? changed.after : undefined,
  };
}

/** Plans and the audit log never contain credentials or their hashes. */
function removeHashes({ hashData, tokenHash, ...fields }: Fields): Fields {
  const suffix = (hashData as { keyIdSuffix?: string } | undefined)?.keyIdSuffix;
  return suffix === undefined ? fields : { ...fields, keySuffix: suffix };
}
