import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Actor } from '../../audit/activity.ts';
import type { Intake } from '../../billing/metering/intake.ts';
import type { Rating } from '../../billing/rating/rating.ts';
import { type Clock, MINUTE_MS } from '../../kernel/clock.ts';
import { addDays, type Day, toUtcDay } from '../../kernel/days.ts';
import { type DemoMeter, usageOfDay } from './usage.ts';

interface Options {
  intake: Intake;
  rating: Rating;
  clock: Clock;
  organizationId: string;
  meters: readonly DemoMeter[];
  /** Days before this many are closed. */
  lockAfterDays: number;
  actor: Actor;
  /** What a person may want to know, in one line. */
  say(line: string): void;
}

const DAYS = 90;
/** The days that people look at first are rated before the rest is made. */
const FIRST_DAYS = 7;

/**
 * Meters the last 90 days of a demo, as far as they are empty, through the same intake and rating as everybody's usage,
 * and goes on minute by minute. All of it in the background. Must be closed.
 */
export function openDemoUsage({ intake, rating, clock, organizationId, meters, lockAfterDays, actor, say }: Options) {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const take = async (date: Day): Promise<number> => {
    const untilMs = clock.now();
    const { accepted } = await intake.ingest(organizationId, () => usageOfDay(meters, date, untilMs));
    return accepted;
  };

  /** Today is never whole, and the last day that was metered may not be. */
  async function missingDays(): Promise<Day[]> {
    const today = toUtcDay(clock.now());
    const days = Array.from({ length: DAYS }, (_, back) => addDays(today, -back));
    const missing: Day[] = [];
    let isFirstFound = true;
    for (const date of days) {
      const isThere = await rating.hasUsage(organizationId, date);
      if (!isThere || isFirstFound) missing.push(date);
      if (isThere) isFirstFound = false;
    }
    return missing;
  }

  async function load(): Promise<void> {
    const beganMs = clock.now();
    let events = 0;
    for (const [index, date] of (await missingDays()).entries()) {
      if (isClosed) return;
      events += await take(date);
      if (index === FIRST_DAYS - 1) await rating.rateChanged(organizationId);
      await nextTurn();
    }
    if (isClosed) return;
    await rating.rateChanged(organizationId);
    await rating.lockDays(actor, organizationId, addDays(toUtcDay(clock.now()), -(lockAfterDays + 1)));
    const seconds = ((clock.now() - beganMs) / 1000).toFixed(1);
    say(`demo usage of the last ${DAYS} days is there: ${events} events metered and rated in ${seconds} s`);
  }

  /** Also yesterday, whose last minutes may have passed since. */
  async function goOn(): Promise<void> {
    const today = toUtcDay(clock.now());
    await take(addDays(today, -1));
    await take(today);
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isClosed) say(`no demo usage: ${(error as Error).message}`);
      return;
    }
    if (isClosed) return;
    timer = setTimeout(() => {
      working = attempt(goOn);
    }, MINUTE_MS).unref();
  }

  let working = attempt(load);
  return {
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
