import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultScaling, type Scaling } from '../service.ts';
import { applyScalingChange, type ScalingChange } from './scaling.ts';
import type { ScalingContext } from './scaling-limits.ts';

const replicaGb = (max: number) => fc.integer({ min: 2, max: max / 4 }).map((steps) => steps * 4);

const context: fc.Arbitrary<ScalingContext> = fc.record({
  organization: fc.record({ tier: fc.constantFrom('BASIC', 'SCALE', 'ENTERPRISE'), isPaid: fc.boolean() }),
  service: fc.record({ kind: fc.constantFrom('production', 'development'), isPrimary: fc.boolean() }),
});

/** Valid stored settings for the context. */
const anyStored = ({ organization, service }: ScalingContext): fc.Arbitrary<Scaling> => {
  const minReplicas = service.isPrimary && service.kind === 'production' ? 2 : 1;
  return fc
    .record({
      numReplicas: organization.tier === 'BASIC' ? fc.constant(1) : fc.integer({ min: minReplicas, max: 20 }),
      bounds: fc.tuple(replicaGb(organization.isPaid ? 356 : 120), replicaGb(organization.isPaid ? 356 : 120)),
      idleScaling: fc.boolean(),
      idleTimeoutMinutes: fc.double({ min: 5, noNaN: true, noDefaultInfinity: true }),
    })
    .map(({ bounds, ...rest }) => ({
      ...rest,
      minReplicaMemoryGb: Math.min(...bounds),
      maxReplicaMemoryGb: Math.max(...bounds),
    }));
};

/** Any change that the schema accepts, with memory per replica. */
const anyChange: fc.Arbitrary<ScalingChange> = fc.record(
  {
    numReplicas: fc.integer({ min: 1, max: 20 }),
    minReplicaMemoryGb: replicaGb(356),
    maxReplicaMemoryGb: replicaGb(356),
    idleScaling: fc.boolean(),
    idleTimeoutMinutes: fc.double({ min: 5, noNaN: true, noDefaultInfinity: true }),
  },
  { requiredKeys: [] },
);

function toTotals({ minReplicaMemoryGb: min, maxReplicaMemoryGb: max, ...rest }: ScalingChange): ScalingChange {
  return {
    ...rest,
    ...(min === undefined ? {} : { minTotalMemoryGb: min * 3 }),
    ...(max === undefined ? {} : { maxTotalMemoryGb: max * 3 }),
  };
}

const cases = context.chain((where) =>
  fc.record({ where: fc.constant(where), current: anyStored(where), change: anyChange }),
);
const runs = { numRuns: 500 };

/** The rules S2 and S3, expressed on the result instead of the change. */
function isValid(
  before: Scaling,
  after: Scaling,
  { organization: { tier, isPaid }, service: { kind, isPrimary } }: ScalingContext,
): boolean {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas } = after;
  const hasSameMemory = min === before.minReplicaMemoryGb && max === before.maxReplicaMemoryGb;
  const hasSameReplicas = numReplicas === before.numReplicas;
  if (kind === 'development') return hasSameMemory && (hasSameReplicas || (tier === 'BASIC' && numReplicas === 1));
  if (tier === 'BASIC') return hasSameMemory && numReplicas === 1;
  return min <= max && (isPaid || max <= 120) && numReplicas >= (isPrimary ? 2 : 1) && numReplicas <= 20;
}

describe('a scaling change', () => {
  it('S1: sets the given fields and keeps all others', () => {
    fc.assert(
      fc.property(cases, ({ where, current, change }) => {
        expect(applyScalingChange(current, change, where).scaling).toEqual({ ...current, ...change });
      }),
      runs,
    );
  });

  it('S2, S3: is rejected exactly if the result violates a rule', () => {
    fc.assert(
      fc.property(cases, ({ where, current, change }) => {
        const { scaling, violations } = applyScalingChange(current, change, where);
        expect(violations.length === 0).toBe(isValid(current, scaling, where));
      }),
      { numRuns: 3000 },
    );
  });

  it('M3: reports only given fields, with the given values', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ where, current, change }, isTotal) => {
        const given = isTotal ? toTotals(change) : change;
        const { violations } = applyScalingChange(current, given, where);
        for (const { path, value } of violations) expect(value).toBe(given[path as keyof ScalingChange]);
      }),
      runs,
    );
  });

  it('S4: has the same effect in totals and per replica', () => {
    fc.assert(
      fc.property(cases, ({ where, current, change }) => {
        const [replica, total] = [
          applyScalingChange(current, change, where),
          applyScalingChange(current, toTotals(change), where),
        ];
        expect(total.scaling).toEqual(replica.scaling);
        expect(total.violations.map(({ path }) => path.replace('Total', 'Replica'))).toEqual(
          replica.violations.map(({ path }) => path),
        );
      }),
      runs,
    );
  });

  it('S1: is idempotent, and valid the second time', () => {
    fc.assert(
      fc.property(cases, ({ where, current, change }) => {
        const once = applyScalingChange(current, change, where).scaling;
        expect(applyScalingChange(once, change, where)).toEqual({ scaling: once, violations: [] });
      }),
      runs,
    );
  });

  it('S3: to the stored values is always valid, in every tier and for every kind', () => {
    fc.assert(
      fc.property(
        cases,
        context,
        fc.subarray([
          'numReplicas',
          'minReplicaMemoryGb',
          'maxReplicaMemoryGb',
          'idleScaling',
          'idleTimeoutMinutes',
        ] as const),
        ({ current }, where, names) => {
          const same = Object.fromEntries(names.map((name) => [name, current[name]]));
          expect(applyScalingChange(current, same, where)).toEqual({ scaling: current, violations: [] });
          expect(applyScalingChange(current, toTotals(same), where)).toEqual({ scaling: current, violations: [] });
        },
      ),
      runs,
    );
  });

  it('S1: two changes of different fields have the same result in either order', () => {
    fc.assert(
      fc.property(cases, fc.func(fc.boolean()), ({ where, current, change }, isFirst) => {
        const pickFields = (wanted: boolean) =>
          Object.fromEntries(Object.entries(change).filter(([name]) => isFirst(name) === wanted));
        const applyBoth = (first: ScalingChange, second: ScalingChange) =>
          applyScalingChange(applyScalingChange(current, first, where).scaling, second, where).scaling;
        expect(applyBoth(pickFields(true), pickFields(false))).toEqual(applyBoth(pickFields(false), pickFields(true)));
        expect(applyBoth(pickFields(true), pickFields(false))).toEqual(
          applyScalingChange(current, change, where).scaling,
        );
      }),
      runs,
    );
  });

  it('S4: does not modify the stored settings', () => {
    fc.assert(
      fc.property(cases, ({ where, current, change }) => {
        const copy = structuredClone(current);
        applyScalingChange(current, change, where);
        expect(current).toEqual(copy);
      }),
    );
  });
});

describe('a new service', () => {
  it.each([
    ['BASIC', 'production', 1, 8, 8],
    ['BASIC', 'development', 1, 8, 8],
    ['SCALE', 'production', 3, 16, 120],
    ['SCALE', 'development', 3, 8, 8],
    ['ENTERPRISE', 'production', 3, 16, 120],
  ] as const)(
    'S2, S4, S5: in a %s organization, %s, starts with %i replicas of %i to %i GB',
    (tier, kind, numReplicas, minReplicaMemoryGb, maxReplicaMemoryGb) => {
      expect(defaultScaling({ tier }, kind)).toEqual({
        numReplicas,
        minReplicaMemoryGb,
        maxReplicaMemoryGb,
        idleScaling: true,
        idleTimeoutMinutes: 15,
      });
    },
  );
});
