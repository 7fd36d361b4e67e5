import { describe, expect, it } from 'vitest';
import type { Service } from '../../management/services/service.ts';
import { type Backup, findBase, getDueAt, isBackedUp, isDue, listChain, listExpired } from './backup.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-11-18T10:00:00Z');

const service = (backupConfiguration?: object): Service =>
  ({ id: 's', createdAt: START, settings: { ...(backupConfiguration && { backupConfiguration }) } }) as Service;

const backup = (id: string, hours: number, changes: Partial<Backup> = {}): Backup => ({
  organizationId: 'o',
  id,
  serviceId: 's',
  chainId: id,
  directoryId: 'd',
  status: 'done',
  startedAt: START + hours * HOUR_MS,
  serviceName: 'n',
  retentionHours: 24,
  ...changes,
});

const at = (hours: number) => START + hours * HOUR_MS;
const ids = (backups: readonly Backup[]) => backups.map(({ id }) => id);

describe('the schedule of backups', () => {
  it.each([
    ['embedded', {}, true, true],
    ['embedded', { desiredState: 'stopped' }, false, false],
    ['kubernetes', { observed: { endpoint: {} } }, false, true],
    ['webhook', { observed: { endpoint: {} } }, false, true],
    ['webhook', { observed: {} }, false, false],
    ['simulated', { observed: { endpoint: {} } }, false, false],
  ])('includes a service with the driver %s (%j): in a directory %s, in objects %s', (driver, changes, ...expected) => {
    const wanted = { driver, desiredState: 'running', observed: {}, ...changes } as Service;
    expect([isBackedUp(wanted, false), isBackedUp(wanted, true)]).toEqual(expected);
  });

  it('counts the period from the last backup that is done, or the creation of the service', () => {
    expect(isDue(service(), [], at(23.9))).toBe(false);
    expect(isDue(service(), [], at(24))).toBe(true);
    expect(isDue(service(), [backup('a', 24)], at(47.9))).toBe(false);
    expect(isDue(service(), [backup('a', 24)], at(48))).toBe(true);
    expect(isDue(service(), [backup('a', 24, { unchangedAt: at(40) })], at(48))).toBe(false);
  });

  it('is once a day with a start time', () => {
    const daily = service({ backupPeriodInHours: 24, backupRetentionPeriodInHours: 48, backupStartTime: '03:30' });
    expect(new Date(getDueAt(daily, undefined)).toISOString()).toBe('2026-11-19T03:30:00.000Z');
    const last = backup('a', 17.5);
    expect(new Date(getDueAt(daily, last)).toISOString()).toBe('2026-11-20T03:30:00.000Z');
  });

  it('does not start a second one, and waits a quarter of an hour after a failed one', () => {
    const failed = backup('a', 24, { status: 'error' });
    expect(isDue(service(), [backup('a', 24, { status: 'in_progress', pending: 'backup' })], at(30))).toBe(false);
    expect(isDue(service(), [failed], at(24.2))).toBe(false);
    expect(isDue(service(), [failed], at(24.25))).toBe(true);
  });

  it('waits twice as long after each further failure, up to the period', () => {
    const fail = (count: number) =>
      Array.from({ length: count }, (_, index) => backup(`f${index}`, 24, { status: 'error' }));
    const hourly = service({ backupPeriodInHours: 6, backupRetentionPeriodInHours: 48 });
    for (const [failures, hours] of [
      [1, 0.25],
      [2, 0.5],
      [3, 1],
      [5, 4],
      [6, 6],
      [2000, 6],
    ] as const) {
      expect(isDue(hourly, [...fail(failures), backup('d', 1)], at(24 + hours - 0.01))).toBe(false);
      expect(isDue(hourly, [...fail(failures), backup('d', 1)], at(24 + hours))).toBe(true);
    }
  });
});

describe('a chain of backups', () => {
  const full = backup('a', 0);
  const second = backup('b', 24, { chainId: 'a', baseId: 'a' });
  const third = backup('c', 48, { chainId: 'a', baseId: 'b' });
  const all = [third, second, full];

  it('is continued for a week, by the same node in the same storage', () => {
    expect(findBase(all, { directoryId: 'd' }, START + 7 * DAY_MS - 1)?.id).toBe('c');
    expect(findBase(all, { directoryId: 'd' }, START + 7 * DAY_MS)).toBeUndefined();
    expect(findBase(all, { directoryId: 'other' }, at(72))).toBeUndefined();
    expect(findBase(all, { directoryId: 'd', location: 's3://bucket/' }, at(72))).toBeUndefined();
    expect(findBase([backup('x', 60, { status: 'error' }), ...all], { directoryId: 'd' }, at(72))?.id).toBe('c');
    expect(findBase([], { directoryId: 'd' }, at(72))).toBeUndefined();
  });

  it('is needed from its full backup on', () => {
    expect(ids(listChain(third, all) ?? [])).toEqual(['a', 'b', 'c']);
    expect(ids(listChain(full, all) ?? [])).toEqual(['a']);
    expect(listChain(third, [third, full])).toBeUndefined();
  });

  it('is deleted as a whole, and never if it has the newest backup of a service', () => {
    const next = backup('n', 72);
    expect(listExpired(all, service(), at(1000))).toEqual([]);
    expect(listExpired([next, ...all], service(), at(71.9))).toEqual([]);
    expect(ids(listExpired([next, ...all], service(), at(72)))).toEqual(['c', 'b', 'a']);
    const busy = { ...second, pending: 'verify' as const };
    expect(listExpired([next, third, busy, full], service(), at(72))).toEqual([]);
  });

  it('of a deleted service is kept until it expires', () => {
    expect(listExpired(all, undefined, at(1000))).toEqual([]);
    const expiring = all.map((one) => ({ ...one, expireAt: at(100) }));
    expect(listExpired(expiring, undefined, at(99))).toEqual([]);
    expect(listExpired(expiring, undefined, at(100))).toHaveLength(3);
  });

  it('of a failed backup is deleted like any other', () => {
    const failed = backup('x', 1, { status: 'error' });
    expect(ids(listExpired([backup('n', 30), failed], service(), at(26)))).toEqual(['x']);
  });
});
