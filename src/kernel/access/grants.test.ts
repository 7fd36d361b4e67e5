import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGrants, listExcess } from './grants.ts';
import { OPERATIONS } from './permissions.ts';
import type { Policy } from './roles.ts';
import { contains, isEmpty, isSubset, type ServiceSet, subtract, unite } from './service-set.ts';

const IDS = ['a', 'b', 'c', 'later'];
const services: fc.Arbitrary<ServiceSet> = fc
  .tuple(fc.boolean(), fc.subarray(['a', 'b', 'c']))
  .map(([isComplement, ids]) => ({ isComplement, ids: new Set(ids) }));

describe('sets of services', () => {
  it('contain what their definition says, also services created later', () => {
    fc.assert(
      fc.property(services, services, (a, b) => {
        for (const id of IDS) {
          expect(contains(unite(a, b), id)).toBe(contains(a, id) || contains(b, id));
          expect(contains(subtract(a, b), id)).toBe(contains(a, id) && !contains(b, id));
        }
        expect(isSubset(a, b)).toBe(IDS.every((id) => !contains(a, id) || contains(b, id)));
        expect(isEmpty(a)).toBe(IDS.every((id) => !contains(a, id)));
      }),
    );
  });
});

const toPolicy = (
  permission: string,
  resources = ['organization/x'],
  allowDeny: Policy['allowDeny'] = 'ALLOW',
): Policy => ({ allowDeny, permissions: [permission], resources });
const grant = (...policies: Policy[]) => createGrants([], [{ name: 'test', policies }]);

describe('grants', () => {
  it('R1: the system roles permit what they permit without custom roles', () => {
    for (const [operation, { access }] of OPERATIONS) {
      expect(createGrants(['admin'], []).permits(operation, undefined)).toBe(true);
      expect(createGrants(['developer'], []).permits(operation, undefined), operation).toBe(access === 'read');
      expect(createGrants(['query_endpoints'], []).permits(operation, undefined)).toBe(false);
    }
  });

  it('R3: a permission contains its operations, an operation only itself', () => {
    const scaling = grant(toPolicy('control-plane:service:manage-scaling-config', ['instance/a']));
    expect(scaling.permits('instanceScalingUpdate', 'a')).toBe(true);
    expect(scaling.permits('instanceScalingUpdate', 'b')).toBe(false);
    expect(scaling.permits('instanceScalingUpdate', undefined)).toBe(true);
    expect(scaling.permits('instanceGet', 'a')).toBe(false);
    expect(grant(toPolicy('instanceGet', ['instance/*'])).listOperations()).toEqual(['instanceGet']);
    expect(grant().permits('no such operation', undefined)).toBe(false);
    expect(grant().permits('whoamiGet', undefined)).toBe(true);
  });

  it('R3: DENY takes precedence, in any order', () => {
    const allow = toPolicy('instanceGet', ['instance/*']);
    const deny = toPolicy('control-plane:service:view', ['instance/a'], 'DENY');
    for (const grants of [grant(allow, deny), grant(deny, allow)])
      expect(['a', 'b'].map((id) => grants.permits('instanceGet', id))).toEqual([false, true]);
  });

  it('R3: excess is every operation that is wider for some service', () => {
    const own = grant(toPolicy('instanceGet', ['instance/a', 'instance/b']));
    expect(listExcess(own, grant(toPolicy('instanceGet', ['instance/b'])))).toEqual([]);
    expect(listExcess(own, grant(toPolicy('instanceGet', ['instance/c'])))).toEqual(['instanceGet']);
    expect(listExcess(own, grant(toPolicy('instanceGet', ['instance/*'])))).toEqual(['instanceGet']);
    expect(listExcess(own, grant(toPolicy('budgetGet')))).toEqual(['budgetGet']);
    expect(listExcess(createGrants(['admin'], []), createGrants(['developer'], []))).toEqual([]);
    expect(listExcess(createGrants(['developer'], []), createGrants(['admin'], []))).toContain('openapiKeyCreate');
  });
});
