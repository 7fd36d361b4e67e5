import { difference } from '../audit/activity.ts';
import type { Violation } from '../kernel/errors.ts';
import type { Context, Kind, Pair } from './kinds/kind.ts';
import type { Declared, Fields, KindName } from './resource.ts';

/** One line of a plan. */
export interface Step {
  action: 'add' | 'change' | 'remove' | 'unchanged';
  kind: KindName;
  organizationId: string;
  id: string;
  name: string;
  /** What differs, by field; credentials by name only. */
  before?: Fields | undefined;
  after?: Fields | undefined;
}

interface Outcome<T> {
  steps: Step[];
  pairs: Pair<T>[];
  /** What the organization will have, by id. */
  result: Map<string, T>;
}

/**
 * Three-way: what the file said last, what it says now, and what is stored. A field that the file changed takes the
 * file's value; every other field keeps what the API made of it. With `force`, the file wins everywhere.
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
  for (const { id, fields, fallback } of declared) {
    const before = current.get(id);
    const last = applied.get(id);
    const changes = force ? fields : changedFields(last, fields);
    // Somebody deleted it since: it stays deleted, until the file says something new about it.
    if (!before && last && Object.keys(changes).length === 0) {
      outcome.steps.push(stepOf(kind, context, id, 'unchanged', undefined, undefined));
      continue;
    }
    const after = before
      ? kind.build(id, { ...kind.fieldsOf(before), ...changes }, context, before)
      : kind.build(id, { ...fallback, ...kind.defaults(fields, context), ...fields }, context, undefined);
    result.set(id, after);
    const isSame =
      before !== undefined && JSON.stringify(kind.fieldsOf(before)) === JSON.stringify(kind.fieldsOf(after));
    if (!isSame) outcome.pairs.push({ id, before, after });
    const action = isSame ? 'unchanged' : before ? 'change' : 'add';
    outcome.steps.push(stepOf(kind, context, id, action, before, isSame ? before : after));
  }
  return outcome;
}

/** Judged once everything is known: a rule may look at resources that stand further down in the file. */
export function judge<T>(
  kind: Kind<T>,
  declared: readonly Declared[],
  pairs: readonly Pair<T>[],
  context: Context,
  elsewhere: string,
): Violation[] {
  const byId = new Map(declared.map((one) => [one.id, one]));
  return pairs.flatMap((pair) => {
    const { path = `${elsewhere}.${kind.name}(${pair.id})`, spelled = {} } = byId.get(pair.id) ?? {};
    return kind.violations(pair, context).map((violation) => {
      const { name, times } = spelled[violation.path] ?? { name: violation.path, times: 1 };
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

export function stepOf<T>(
  kind: Kind<T>,
  { organization }: Context,
  id: string,
  action: Step['action'],
  before: T | undefined,
  after: T | undefined,
): Step {
  const shown = (resource: T | undefined): Fields =>
    resource ? withoutHashes((kind.trailOf ?? kind.fieldsOf)(resource)) : {};
  const known = after ?? before;
  const { name, entityName, date } = known ? kind.fieldsOf(known) : {};
  const changed = difference(shown(before), shown(after));
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

/** Plans and the audit trail show that credentials changed, never what they or their hashes are. */
function withoutHashes({ hashData, tokenHash, ...fields }: Fields): Fields {
  const suffix = (hashData as { keyIdSuffix?: string } | undefined)?.keyIdSuffix;
  return suffix === undefined ? fields : { ...fields, keySuffix: suffix };
}
