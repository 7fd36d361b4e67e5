import { describe, expect, it } from 'vitest';
import type { Desired, Observation } from '../../management/services/driver.ts';
import { listDifferences } from './desired.ts';
import { toFailure, toObservation, toTransition } from './observation.ts';

const desired: Desired = { generation: 7, state: 'running', memoryGb: 16, replicas: 3 };
const running = { state: 'running', memoryGb: 16, replicas: 3, evidence: { pid: 1 } } as const;
const before: Observation = { state: 'idle', since: 100, endpoint: { host: '127.0.0.1', port: 1 } };

describe('the desired state', () => {
  it('is reached if state, memory and replicas are as desired', () => {
    expect(listDifferences(running, desired)).toEqual([]);
    expect(listDifferences({ ...running, memoryGb: 8 }, desired)).toEqual(['the memory in GB is 8 instead of 16']);
    expect(listDifferences({ ...running, replicas: 2 }, desired)).toEqual(['the number of replicas is 2 instead of 3']);
    expect(listDifferences({ state: 'starting' }, desired)).toEqual(['it is starting']);
  });

  it('of a service that is off has no size, and a driver need not tell idle from stopped', () => {
    expect(listDifferences({ state: 'stopped' }, { ...desired, state: 'idle' })).toEqual([]);
    expect(listDifferences({ state: 'idle' }, { ...desired, state: 'stopped' })).toEqual([]);
    expect(listDifferences(running, { ...desired, state: 'stopped' })).toEqual(['it is running']);
  });
});

describe('an observation', () => {
  it('has the time since when the state is the same', () => {
    expect(toObservation(before, running, desired, 200)).toMatchObject({ state: 'running', since: 200 });
    expect(toObservation({ ...before, state: 'running' }, running, desired, 200).since).toBe(100);
  });

  it('keeps the endpoint, and the change in flight until it is reached', () => {
    const inFlight = { generation: 7, attempt: 2, since: 150 };
    const partial = { ...running, state: 'resizing' } as const;
    expect(toObservation({ ...before, inFlight }, partial, desired, 200)).toMatchObject({
      state: 'running',
      isResizing: true,
      inFlight,
      endpoint: before.endpoint,
    });
    expect(toObservation({ ...before, inFlight }, running, desired, 200)).not.toHaveProperty('inFlight');
  });

  it('of a service without a process is the state that was asked for', () => {
    expect(toObservation(before, { state: 'stopped' }, { ...desired, state: 'idle' }, 200).state).toBe('idle');
  });

  it.each([
    ['running', { ...running, memoryGb: 8 }, desired, 'running', true],
    ['idle', { state: 'stopped' }, desired, 'starting', undefined],
    ['awaking', { state: 'stopped' }, desired, 'awaking', undefined],
    ['provisioning', { state: 'deleted' }, desired, 'provisioning', undefined],
    ['running', running, { ...desired, state: 'stopped' }, 'stopping', undefined],
  ] as const)('of a %s service that changes says so', (state, observed, wanted, expected, isResizing) => {
    const after = toTransition({ ...before, state }, observed, wanted, 200);
    expect([after.state, after.isResizing]).toEqual([expected, isResizing]);
    expect(after.inFlight).toEqual({ generation: 7, attempt: 1, since: 200 });
  });

  it('of a degraded service stays so while the same change is tried again', () => {
    const inFlight = { generation: 7, attempt: 1, since: 150 };
    const degraded = { ...before, state: 'degraded', inFlight } as const;
    expect(toTransition(degraded, { state: 'degraded' }, desired, 200).state).toBe('degraded');
    expect(toTransition(degraded, { state: 'degraded' }, { ...desired, generation: 8 }, 200).state).toBe('starting');
  });

  it('of a failure is degraded with the reason and the attempt', () => {
    const failed = toFailure({ ...before, state: 'starting' }, desired, 'The disk is full', 3, 200);
    expect(failed).toMatchObject({
      state: 'degraded',
      since: 200,
      reason: 'The disk is full',
      inFlight: { attempt: 3 },
    });
    expect(toFailure({ ...before, state: 'stopping' }, { ...desired, state: 'stopped' }, 'x', 1, 200).state).toBe(
      'stopping',
    );
  });
});
