import { describe, expect, it } from 'vitest';
import { type DesiredState, type ServiceState, toDesiredState } from './driver.ts';
import {
  applyCommand,
  type Command,
  getCommandedState,
  getSettledState,
  isDeletable,
  observe,
  provision,
} from './simulated.ts';

const steady = (state: ServiceState) => ({ desiredState: toDesiredState(state), observed: { state, since: 1 } });

describe('the simulated driver', () => {
  it.each<[ServiceState, Command, ServiceState, ServiceState]>([
    ['running', 'stop', 'stopping', 'stopped'],
    ['idle', 'stop', 'stopping', 'stopped'],
    ['degraded', 'stop', 'stopping', 'stopped'],
    ['stopped', 'start', 'starting', 'running'],
    ['stopping', 'start', 'starting', 'running'],
    ['failed', 'start', 'starting', 'running'],
    ['idle', 'awake', 'awaking', 'running'],
    ['degraded', 'awake', 'awaking', 'running'],
  ])('S8: %s, %s: %s until the end of the transition, then %s', (before, command, during, after) => {
    const service = applyCommand(steady(before), command, 100, 50) ?? expect.fail('no change');
    expect(observe(service, 100).state).toBe(during);
    expect(observe(service, 149).state).toBe(during);
    expect(observe(service, 150)).toEqual({ state: after, since: 150 });
    expect(getSettledState({ driver: 'simulated', ...service })).toBe(after);
  });

  it.each<[ServiceState, Command]>([
    ['running', 'start'],
    ['starting', 'start'],
    ['provisioning', 'awake'],
    ['running', 'awake'],
    ['awaking', 'awake'],
    ['stopped', 'stop'],
    ['stopping', 'stop'],
  ])('S8: %s, %s changes nothing', (before, command) => {
    expect(applyCommand(steady(before), command, 100, 50)).toBeUndefined();
  });

  it.each<[ServiceState, Command]>([
    ['idle', 'start'],
    ['stopped', 'awake'],
    ['stopping', 'awake'],
    ['terminated', 'start'],
    ['softdeleted', 'stop'],
  ])('S8: %s rejects %s', (before, command) => {
    expect(() => applyCommand(steady(before), command, 100, 50)).toThrow(/The service is/);
  });

  it('a service that is about to idle accepts commands as a running one does', () => {
    const idling = { desiredState: 'idle', observed: { state: 'stopping', since: 1 } } as const;
    expect(applyCommand(idling, 'stop', 100, undefined)).toMatchObject({ desiredState: 'stopped' });
    expect(applyCommand(idling, 'start', 100, undefined)).toMatchObject({ desiredState: 'running' });
    expect(applyCommand(idling, 'awake', 100, undefined)).toMatchObject({ desiredState: 'running' });
  });

  it('a new service is provisioning, then running', () => {
    const service = provision(100, 50);
    expect([observe(service, 100).state, observe(service, 150).state]).toEqual(['provisioning', 'running']);
    expect(observe(provision(100, 0), 100).state).toBe('running');
  });

  it.each<[ServiceState, boolean]>([
    ['stopped', true],
    ['failed', true],
    ['stopping', false],
    ['running', false],
    ['idle', false],
    ['provisioning', false],
  ])('a service that is %s can be deleted: %s', (state, expected) => {
    expect(isDeletable(state)).toBe(expected);
  });

  it.each<[DesiredState, ServiceState, Command, DesiredState]>([
    // The driver still reports the state before the last command.
    ['stopped', 'running', 'start', 'running'],
    ['running', 'stopped', 'stop', 'stopped'],
    ['idle', 'stopping', 'stop', 'stopped'],
    ['idle', 'running', 'awake', 'running'],
    ['stopped', 'stopped', 'start', 'running'],
    ['running', 'degraded', 'start', 'running'],
  ])('to be %s, observed as %s: %s is applied', (desiredState, state, command, after) => {
    expect(applyCommand({ desiredState, observed: { state, since: 1 } }, command, 100, undefined)?.desiredState).toBe(
      after,
    );
  });

  it('a service that was started again cannot be deleted while its driver still reports it as stopped', () => {
    const states = { desiredState: 'running', observed: { state: 'stopped', since: 1 } } as const;
    expect(isDeletable(getCommandedState(states, 100, undefined))).toBe(false);
  });
});
