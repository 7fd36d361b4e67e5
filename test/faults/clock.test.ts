import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../src/kernel/errors.ts';
import { createSupervisor } from '../../src/platform/engine/backends/supervisor.ts';
import { createRateLimiter } from '../../src/platform/http/limits/rate-limit.ts';
import { actor, type TestOrganization, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';
import { createTestClock } from '../support/test-clock.ts';

// Each store starts an engine.
vi.setConfig({ testTimeout: 600_000 });

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const START = '2026-11-15T12:00:00Z';

onEachStore('a clock that is set', (store) => {
  const metering = useMetering(store);

  /** An organization with usage on an open day, seen by a pass of this node a moment ago. */
  async function meterOpenDay(): Promise<TestOrganization> {
    metering.clock.set(START);
    await metering.domains.lockClock.confirm(actor);
    const org = await metering.organization();
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    await metering.domains.rater.run();
    return org;
  }

  const isLocked = async (org: TestOrganization, date = '2026-11-10') =>
    (await org.days()).find((day) => day.date === date)?.isLocked;
  const listWarnings = () => metering.domains.usageWarnings.list();
  /** The lines of the report; a pass may log others. */
  const countReports = () => metering.warnings.filter((line) => line.includes('clock_unconfirmed')).length;

  it('forward by 20 days locks nothing, reports it once, and locks after it is confirmed', async () => {
    const org = await meterOpenDay();
    const reports = countReports();
    metering.clock.step(20 * DAY_MS);
    for (let pass = 0; pass < 3; pass++) {
      metering.clock.add(20_000);
      await metering.domains.rater.run();
    }
    expect(await isLocked(org)).toBe(false);
    expect(await listWarnings()).toMatchObject([
      { code: 'clock_unconfirmed', remedy: expect.stringContaining('pilothouse usage confirm-clock') },
    ]);
    expect(countReports()).toBe(reports + 1);
    expect(metering.domains.usageWarnings.counts().unconfirmedDays).toBeGreaterThan(0);
    expect(await metering.restart().usageInspection.inspect({ canReadEngine: true })).toMatchObject([
      { code: 'clock_unconfirmed' },
    ]);

    await metering.domains.lockClock.confirm(actor);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(true);
    expect(await listWarnings()).toEqual([]);
    const { activities } = await metering.domains.audit.list(org.id, {}, { limit: 10 });
    expect(activities.map(({ type }) => type)).toContain('usage_clock_confirm');
  });

  it('forward and back again locks nothing and needs no confirmation', async () => {
    const org = await meterOpenDay();
    metering.clock.step(20 * DAY_MS);
    await metering.domains.rater.run();
    metering.clock.step(-20 * DAY_MS);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(false);
    expect(await listWarnings()).toEqual([]);
    metering.clock.add(15 * DAY_MS);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(true);
  });

  it('forward locks the days of an organization whose events show that they are over', async () => {
    const org = await meterOpenDay();
    const quiet = await metering.organization();
    await quiet.send([quiet.event({ time: '2026-11-10T10:00:00Z' })]);
    metering.clock.step(20 * DAY_MS);
    await org.send([org.event({ time: '2026-11-24T23:59:59Z' })]);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(false);
    await org.send([org.event({ time: '2026-11-25T00:00:00Z' })]);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(true);
    expect(await isLocked(org, '2026-11-24')).toBe(false);
    expect(await isLocked(quiet)).toBe(false);
  });

  it('back by 2 days locks nothing and keeps a lease of another node no longer than its duration', async () => {
    const org = await meterOpenDay();
    await org.send([org.event()], metering.createNode());
    await metering.state.db
      .updateTable('usage_intakes')
      .set({ days: '["2026-11-15"]' })
      .where('organization_id', '=', org.id)
      .execute();
    metering.clock.step(-2 * DAY_MS);
    await metering.domains.rater.run();
    expect(await isLocked(org)).toBe(false);
    const revision = async () => (await org.days()).find(({ date }) => date === '2026-11-15')?.revision ?? 0;
    const before = await revision();
    const other = metering.createNode();
    await other.intake.recoverUnfinished();
    expect(await revision()).toBe(before);
    metering.clock.add(61_000);
    await other.intake.recoverUnfinished();
    expect(await revision()).toBe(before + 1);
    expect(await org.send([org.event({ time: '2026-11-13T00:00:00Z' })], other)).toMatchObject({ accepted: 1 });
  });

  it('is not suspected after a restart within an hour, or while the server runs', async () => {
    const org = await meterOpenDay();
    metering.clock.set('2026-11-24T23:30:00Z');
    await metering.domains.rater.run();
    metering.clock.add(59 * 60_000);
    await metering.restart().rater.run();
    expect(await listWarnings()).toEqual([]);
    expect(await isLocked(org)).toBe(true);
  });

  it('must be confirmed when no server ran for more than an hour and days would be locked', async () => {
    const org = await meterOpenDay();
    metering.clock.set('2026-11-25T00:30:00Z');
    const restarted = metering.restart();
    await restarted.rater.run();
    expect(await isLocked(org)).toBe(false);
    expect(await restarted.usageWarnings.list()).toMatchObject([{ code: 'clock_unconfirmed' }]);
    await restarted.lockClock.confirm(actor);
    await restarted.rater.run();
    expect(await isLocked(org)).toBe(true);
  });

  it('does not lock a day explicitly that is not over by the clock of the store', async () => {
    const org = await meterOpenDay();
    const behind = metering.createNode({ storeNow: () => Date.parse('2026-11-10T23:00:00Z') });
    await expect(behind.rating.lockDays(actor, org.id, '2026-11-10')).rejects.toThrow(/must be over/);
    expect(await isLocked(org)).toBe(false);
    expect(await behind.rating.lockDays(actor, org.id, '2026-11-09')).toBe(0);
  });
});

describe('a clock that is set back by 2 days', () => {
  it('B7: does not extend a window of the rate limiter', () => {
    const clock = createTestClock(START);
    const limiter = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
    limiter.take('key');
    clock.step(-2 * DAY_MS);
    expect(limiter.take('key')).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 10 });
    clock.step(4 * DAY_MS);
    expect(limiter.take('key').isAllowed).toBe(false);
    clock.add(10_000);
    expect(limiter.take('key').isAllowed).toBe(true);
  });

  it('does not extend the pause before the engine is started again', async () => {
    const clock = createTestClock(START);
    const supervisor = createSupervisor({
      clock,
      log: { info() {}, warn() {} },
      observer: { query() {}, running() {}, restarted() {} },
      start: async () => {
        throw new AppError('unavailable', 'no engine here');
      },
    });
    const getRetryAfter = () =>
      supervisor.get().then(
        () => expect.fail('unexpected success'),
        (error: AppError) => error.retryAfterSeconds,
      );
    await getRetryAfter();
    await getRetryAfter();
    clock.step(-2 * DAY_MS);
    expect(await getRetryAfter()).toBe(1);
    for (let attempt = 0; attempt < 10; attempt++) {
      clock.add(HOUR_MS);
      await getRetryAfter();
      clock.step(-2 * DAY_MS);
      expect(await getRetryAfter()).toBeLessThanOrEqual(30);
    }
  });
});
