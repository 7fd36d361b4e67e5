import { describe, expect, it } from 'vitest';
import { estimateReplicaGb } from './scaling-estimate.ts';

const current = {
  numReplicas: 2,
  minReplicaMemoryGb: 16,
  maxReplicaMemoryGb: 64,
  idleScaling: true,
  idleTimeoutMinutes: 5,
};

describe('the estimated memory of a replica', () => {
  it.each([
    ['no change', 40, {}, 20],
    ['a service that idles half of the time, with twice the minimum', 16, { minReplicaMemoryGb: 32 }, 16],
    ['idling switched off', 16, { idleScaling: false }, 16],
    ['a service that was always idle', 0, {}, 0],
    ['a service that was always idle, with idling switched off', 0, { idleScaling: false }, 16],
    ['usage above the maximum', 200, {}, 64],
  ])('%s', (_, usedGb, change, expected) => {
    expect(estimateReplicaGb(usedGb, current, { ...current, ...change })).toBe(expected);
  });

  it('does not assume idling that has not been observed', () => {
    const always = { ...current, idleScaling: false };
    expect(estimateReplicaGb(40, always, current)).toBe(20);
  });
});
