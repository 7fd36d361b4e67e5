import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { type Clock, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { addDays, type Day, toUtcDay } from '../../../kernel/time/days.ts';
import type { Actor } from '../../../management/audit/activity.ts';
import type { Intake } from '../../../management/billing/metering/intake.ts';
import type { Rating } from '../../../management/billing/rating/rating.ts';
import { USAGE_DAYS } from './costs.ts';
import { type DemoMeter, generateUsage } from './generator.ts';

interface Options {
  intake: Intake;
  rating: Rating;
  clock: Clock;
  organizationId: string;
  meters: readonly DemoMeter[];
  /** Days older than this are locked. */
  lockAfterDays: number;
  actor: Actor;
  /** Receives progress messages for people. */
  say(line: string): void;
}

/**
 * Meters the missing days of the last 90 through the regular intake and rating, then continues every minute. Runs in
 * the background; the caller must close it.
 */
export function openDemoUsage({ intake, rating, clock, organizationId, meters, lockAfterDays, actor, say }: Options) {
  let isClosed = false;

  async function meterDay(date: Day): Promise<number> {
    const untilMs = clock.now();
    const { accepted } = await intake.ingest(organizationId, () => generateUsage(meters, date, untilMs));
    return accepted;
  }

  /** Days without usage, today, and the last metered day: both may be incomplete. */
  async function listMissingDays(): Promise<Day[]> {
    const today = toUtcDay(clock.now());
    const days = Array.from({ length: USAGE_DAYS }, (_, back) => addDays(today, -back));
    const missing: Day[] = [];
    let isLastMeteredDay = true;
    for (const date of days) {
      const hasUsage = await rating.hasUsage(organizationId, date);
      if (!hasUsage || isLastMeteredDay) missing.push(date);
      if (hasUsage) isLastMeteredDay = false;
    }
    return missing;
  }

  /** Returns false if closed before the end. */
  async function load(): Promise<boolean> {
    const startedMs = clock.monotonicMs();
    let events = 0;
    for (const date of await listMissingDays()) {
      if (isClosed) return false;
      events += await meterDay(date);
      // Metered usage replaces the provisional costs that the demo starts with.
      await rating.rateDay(organizationId, date, { replacesImported: true });
      await yieldToEventLoop();
    }
    if (isClosed) return false;
    await rating.rateChanged(organizationId);
    await rating.lockDays(actor, organizationId, addDays(toUtcDay(clock.now()), -(lockAfterDays + 1)));
    const seconds = ((clock.monotonicMs() - startedMs) / 1000).toFixed(1);
    say(`demo usage for the last ${USAGE_DAYS} days is ready: ${events} events metered and rated in ${seconds} s`);
    return true;
  }

  /** Includes yesterday, whose last minutes may have ended since the previous run. */
  async function addRecent(): Promise<void> {
    const today = toUtcDay(clock.now());
    await meterDay(addDays(today, -1));
    await meterDay(today);
  }

  let isLoaded = false;
  let isFailing = false;
  const loop = createBackgroundLoop({
    everyMs: MINUTE_MS,
    async run() {
      if (isLoaded) await addRecent();
      else isLoaded = await load();
      isFailing = false;
    },
    onError(error) {
      if (!isFailing && !isClosed) say(`demo usage is not available: ${(error as Error).message}`);
      isFailing = true;
    },
  });
  loop.start();

  return {
    async close(): Promise<void> {
      isClosed = true;
      await loop.close();
    },
  };
}
