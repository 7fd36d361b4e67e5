import { describe, expect, it } from 'vitest';
import type { Desired, Observed } from '../../management/services/driver.ts';
import { checkClaims, toCurrent } from './checked-observation.ts';

const desired = (changes: Partial<Desired> = {}): Desired => ({
  generation: 4,
  state: 'running',
  replicas: 3,
  memoryGb: 16,
  ...changes,
});

describe('the claims of a driver', () => {
  it('are used up to the largest size of a service', () => {
    const observed: Observed = {
      state: 'running',
      replicas: 20,
      memoryGb: 356,
      load: { cpuCores: 7120, memoryBytes: 7120 * 2 ** 30, storedBytes: 2 ** 50, outOfMemory: 3 },
    };
    expect(checkClaims(observed)).toBe(observed);
    expect(checkClaims({ state: 'stopped' })).toEqual({ state: 'stopped' });
  });

  it.each<[Partial<Observed>, string]>([
    [{ replicas: 21 }, 'replicas is 21 and must be from 0 to 20'],
    [{ replicas: 1.5 }, 'replicas is 1.5 and must be an integer'],
    [{ memoryGb: 357 }, 'memoryGb is 357 and must be from 0 to 356'],
    [{ memoryGb: Number.NaN }, 'memoryGb is NaN and must be from 0 to 356'],
    [{ load: { storedBytes: 2 ** 50 + 1 } }, `load.storedBytes is ${2 ** 50 + 1} and must be from 0 to ${2 ** 50}`],
    [{ load: { cpuCores: -1 } }, 'load.cpuCores is -1 and must be from 0 to 7120'],
    [{ load: { memoryBytes: 2 ** 50 } }, `load.memoryBytes is ${2 ** 50} and must be from 0 to ${7120 * 2 ** 30}`],
  ])('that no service can have are a reason, and no figure is kept: %o', (claim, text) => {
    const evidence = { generation: 4 };
    expect(checkClaims({ state: 'running', replicas: 2, memoryGb: 16, evidence, ...claim })).toEqual({
      state: 'degraded',
      reason: `The driver reported impossible values: ${text}`,
      evidence,
    });
  });
});

describe('the generation of an observation', () => {
  it.each<[Observed['state'], Desired['state'], Observed['state']]>([
    ['running', 'running', 'resizing'],
    ['idle', 'running', 'awaking'],
    ['stopped', 'running', 'starting'],
    ['running', 'stopped', 'stopping'],
    ['stopped', 'stopped', 'stopping'],
    ['degraded', 'running', 'degraded'],
  ])('that is older: %s that is to be %s is %s', (state, wanted, expected) => {
    const current = toCurrent({ state, generation: 3, replicas: 3, memoryGb: 16 }, desired({ state: wanted }));
    expect(current).toMatchObject({ state: expected, replicas: 3, memoryGb: 16 });
    if (state !== 'degraded') expect(current.reason).toBe('The driver is at generation 3 of 4');
  });

  it('that is newer is never reached, and the reason says so', () => {
    expect(toCurrent({ state: 'running', generation: 9 }, desired())).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('The driver is at generation 9 and the service at 4'),
    });
  });

  it('that is current, or that the driver does not know, changes nothing', () => {
    for (const observed of [{ state: 'running', generation: 4 }, { state: 'running' }] as const)
      expect(toCurrent(observed, desired())).toBe(observed);
  });
});
