import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Declared, Fields } from './declared.ts';
import type { Context, Kind } from './kinds/kind.ts';
import { listViolations, planKind } from './plan.ts';
import { NO_TARGETS } from './references.ts';

/** A resource with three fields, all optional in the file. */
interface Box {
  a: number;
  b: string;
  c: number[];
}

const boxes: Kind<Box> = {
  name: 'source',
  activities: { bulk: 'usage_cost_import' },
  load: async () => new Map(),
  toFields: ({ a, b, c }) => ({ a, b, c }),
  defaults: () => ({ a: 0, b: 'default', c: [] }),
  build: (_id, { a, b, c }) => ({ a, b, c }) as Box,
  violations: ({ after }) => (after.a < 0 ? [{ path: 'a', rule: 'The value must be at least 0', value: after.a }] : []),
  save: async () => {},
  remove: async () => {},
};

const context: Context = {
  organization: {
    id: 'o',
    name: 'O',
    tier: 'SCALE',
    isPaid: true,
    createdAt: 0,
    costRevision: 1,
    telemetryRetention: {},
    telemetryLimits: {},
    telemetryRules: [],
    memberRules: [],
    keepsSqlLiterals: false,
  },
  now: 0,
  actor: { type: 'system', id: 'test', details: 'test' },
  services: new Map(),
  targets: NO_TARGETS,
  alertRemoval: {} as never,
  lockedThrough: '',
};

const box = fc.record<Box>({
  a: fc.nat(3),
  b: fc.constantFrom('x', 'y', 'z'),
  c: fc.array(fc.nat(2), { maxLength: 2 }),
});
const declaration = fc.record<Partial<Box>>(
  { a: fc.nat(3), b: fc.constantFrom('x', 'y', 'z'), c: fc.array(fc.nat(2), { maxLength: 2 }) },
  { requiredKeys: [] },
);
const names = ['a', 'b', 'c'] as const;

const declare = (fields: Fields, id = 'one'): Declared => ({ kind: 'source', id, path: `sources[${id}]`, fields });

/** The result of applying the file `now` to a store that contains `stored`, after the file `last`. */
function plan({
  now,
  last,
  stored,
  force = false,
}: {
  now: Partial<Box>;
  last?: Partial<Box> | undefined;
  stored?: Box | undefined;
  force?: boolean;
}) {
  const current = new Map(stored ? [['one', stored]] : []);
  const outcome = planKind(
    boxes,
    [declare(now)],
    current,
    new Map(last ? [['one', last as Fields]] : []),
    context,
    force,
  );
  return { ...outcome, after: outcome.result.get('one'), action: outcome.steps[0]?.action };
}

describe('F1: the three-way merge', () => {
  it('changes nothing for an unchanged file, regardless of API changes and deletions', () => {
    fc.assert(
      fc.property(declaration, fc.option(box, { nil: undefined }), (file, stored) => {
        const { after, action, pairs } = plan({ now: file, last: structuredClone(file), stored });
        expect({ after, action, pairs }).toEqual({ after: stored, action: 'unchanged', pairs: [] });
      }),
    );
  });

  it('sets the fields that changed in the file and keeps the stored value of all others', () => {
    fc.assert(
      fc.property(declaration, declaration, box, (now, last, stored) => {
        const { after } = plan({ now, last, stored });
        for (const name of names) {
          const isChanged = now[name] !== undefined && JSON.stringify(now[name]) !== JSON.stringify(last[name]);
          expect(after?.[name]).toEqual(isChanged ? now[name] : stored[name]);
        }
      }),
    );
  });

  it('with force, sets every declared field and keeps the stored value of all others', () => {
    fc.assert(
      fc.property(declaration, fc.option(declaration, { nil: undefined }), box, (now, last, stored) => {
        expect(plan({ now, last, stored, force: true }).after).toEqual({ ...stored, ...now });
      }),
    );
  });

  it('creates a missing resource from the defaults and the file', () => {
    fc.assert(
      fc.property(declaration, fc.boolean(), (now, force) => {
        const { after, action } = plan({ now, force });
        expect({ after, action }).toEqual({ after: { a: 0, b: 'default', c: [], ...now }, action: 'add' });
      }),
    );
  });

  it('creates a deleted resource again once its declaration changes or with force', () => {
    fc.assert(
      fc.property(declaration, declaration, fc.boolean(), (now, last, force) => {
        const hasChanged = names.some(
          (name) => now[name] !== undefined && (force || JSON.stringify(now[name]) !== JSON.stringify(last[name])),
        );
        expect(plan({ now, last, force }).action).toBe(hasChanged ? 'add' : 'unchanged');
      }),
    );
  });

  it('treats every field of a new declaration as changed', () => {
    fc.assert(
      fc.property(declaration, box, (now, stored) => {
        expect(plan({ now, stored }).after).toEqual({ ...stored, ...now });
      }),
    );
  });

  it('is idempotent: applying a file again changes nothing', () => {
    fc.assert(
      fc.property(
        declaration,
        fc.option(declaration, { nil: undefined }),
        fc.option(box, { nil: undefined }),
        fc.boolean(),
        (now, last, stored, force) => {
          const first = plan({ now, last, stored, force });
          const second = plan({ now, last: now, stored: first.after, force: false });
          expect(second.pairs).toEqual([]);
          expect(second.after).toEqual(first.after);
        },
      ),
    );
  });

  it('stores only differences, and the plan shows only the fields that differ', () => {
    fc.assert(
      fc.property(declaration, declaration, box, fc.boolean(), (now, last, stored, force) => {
        const { after, steps, pairs, action } = plan({ now, last, stored, force });
        const differing = names.filter((name) => JSON.stringify(stored[name]) !== JSON.stringify(after?.[name]));
        expect(action).toBe(differing.length === 0 ? 'unchanged' : 'change');
        expect(pairs).toHaveLength(differing.length === 0 ? 0 : 1);
        expect(Object.keys(steps[0]?.before ?? {}).sort()).toEqual(differing);
        expect(Object.keys(steps[0]?.after ?? {}).sort()).toEqual(differing);
      }),
    );
  });

  it('leaves undeclared resources alone', () => {
    fc.assert(
      fc.property(declaration, box, fc.boolean(), (now, other, force) => {
        const { result, steps } = planKind(
          boxes,
          [declare(now)],
          new Map([['other', other]]),
          new Map([['other', { a: 3 }]]),
          context,
          force,
        );
        expect(result.get('other')).toBe(other);
        expect(steps.map(({ id }) => id)).toEqual(['one']);
      }),
    );
  });
});

describe('the violations of a plan', () => {
  it('F2: have the path of their resource, and cover changed resources only', () => {
    const stored = new Map<string, Box>([['kept', { a: -1, b: 'x', c: [] }]]);
    const file = [declare({ a: -2 }, 'new'), declare({ b: 'x' }, 'kept')];
    const outcome = planKind(boxes, file, stored, new Map(), context, false);
    expect(listViolations(boxes, file, outcome.pairs, context, 'organizations[0]')).toEqual([
      { path: 'sources[new].a', rule: 'The value must be at least 0', value: -2 },
    ]);
  });

  it('F2: defaults from the rest of the file yield to the declaration and to the defaults of the kind', () => {
    const file: Declared[] = [{ ...declare({ a: 1 }), fallback: { a: 9, b: 'fallback', c: [9] } }];
    const kind: Kind<Box> = { ...boxes, defaults: () => ({ c: [] }) };
    expect(planKind(kind, file, new Map(), new Map(), context, false).result.get('one')).toEqual({
      a: 1,
      b: 'fallback',
      c: [],
    });
  });
});
