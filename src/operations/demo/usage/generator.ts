import { DAY_MS, MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { EntityType } from '../../../management/billing/entity.ts';
import type { Metric } from '../../../management/billing/meter.ts';

/** A generated meter of one demo entity. */
export interface DemoMeter {
  entityType: EntityType;
  entityId: string;
  meter: Metric;
  everyMinutes: number;
  /** Average quantity per event on an ordinary weekday. */
  quantity: number;
  /** `stored` grows a little every day; `used` follows the time of day and the day of the week. */
  shape: 'stored' | 'used';
  /** Has unusually high usage on the day of a spike. */
  hasSpikes?: boolean;
  /** The service runs from this time on and is metered itself, in epoch milliseconds. */
  untilMs?: number;
}

/**
 * A spike in the last week: one day in six, but only among the days that are recent when they are generated, so that the
 * months before are ordinary. The last six complete days of a new demo always contain exactly one.
 */
const SPIKE = { everyDays: 6, on: 3, recentDays: 6, fromHour: 8, toHour: 21, factor: 3.5 };
const GROWTH_PER_DAY = 0.001;
const GROWS_SINCE = Math.floor(Date.parse('2026-01-01T00:00:00Z') / DAY_MS);
const SOURCE = 'demo';

/** The usage events of a day up to now, as JSON text. Deterministic for each day and, because of the spikes, age of the day. */
export function* generateUsage(meters: readonly DemoMeter[], date: Day, nowMs: number): Generator<string> {
  for (const meter of meters) {
    const { entityType, entityId, meter: name } = meter;
    const scale = getScale(meter);
    for (const { time, id, amount } of listQuantities(meter, date, nowMs)) {
      const quantity = String(amount / scale);
      yield JSON.stringify({ id, source: SOURCE, time, entityType, entityId, meter: name, quantity });
    }
  }
}

/** The sum of the quantities that `generateUsage` generates for one meter, as a decimal. Undefined if there are none. */
export function sumUsage(meter: DemoMeter, date: Day, nowMs: number): string | undefined {
  let sum: number | undefined;
  for (const { amount } of listQuantities(meter, date, nowMs)) sum = (sum ?? 0) + amount;
  const scale = getScale(meter);
  return sum === undefined ? undefined : scale === 1 ? String(sum) : (sum / scale).toFixed(2);
}

/** Compute units may be fractional, with two decimals; bytes may not. */
const getScale = ({ meter }: DemoMeter): 1 | 100 => (meter === 'compute' ? 100 : 1);

/** The times of a day in whole minutes. Formatting each of them again would take most of the time. */
const CLOCK_TIMES = Array.from({ length: DAY_MS / MINUTE_MS }, (_, minute) =>
  new Date(minute * MINUTE_MS).toISOString().slice(10, 19),
);

interface Quantity {
  id: string;
  time: string;
  /** An integer: the quantity times its scale. */
  amount: number;
}

/** One for each interval of the day that has ended. */
function* listQuantities(meter: DemoMeter, date: Day, nowMs: number): Generator<Quantity> {
  const { entityId, meter: name, everyMinutes, shape, untilMs = nowMs } = meter;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const isSpike = meter.hasSpikes === true && isSpikeDay(date, nowMs);
  const daily = meter.quantity * getScale(meter) * (shape === 'stored' ? growth(midnight) : variation(meter, date));
  for (let minute = 0; minute < CLOCK_TIMES.length; minute += everyMinutes) {
    const at = midnight + minute * MINUTE_MS;
    if (at + everyMinutes * MINUTE_MS > Math.min(nowMs, untilMs)) return;
    const time = `${date}${CLOCK_TIMES[minute]}Z`;
    const id = `${entityId}/${name}/${time}`;
    const level = shape === 'stored' ? 1 : load(at, isSpike);
    yield { id, time, amount: Math.round(daily * level * (0.9 + 0.2 * noise(id))) };
  }
}

/** No two days are the same. */
const variation = ({ entityId, meter }: DemoMeter, date: Day): number =>
  0.9 + 0.2 * noise(`${entityId} ${meter} ${date}`);

function isSpikeDay(date: Day, nowMs: number): boolean {
  const day = Date.parse(`${date}T00:00:00Z`) / DAY_MS;
  return day % SPIKE.everyDays === SPIKE.on && Math.floor(nowMs / DAY_MS) - day <= SPIKE.recentDays;
}

const growth = (ms: number): number => 1 + (Math.floor(ms / DAY_MS) - GROWS_SINCE) * GROWTH_PER_DAY;

/** Low at night and on weekends, high during the day. */
function load(ms: number, isSpike: boolean): number {
  const day = Math.floor(ms / DAY_MS);
  const hour = (ms % DAY_MS) / (60 * MINUTE_MS);
  const weekday = (day + 4) % 7;
  const hourly = 1 - 0.55 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
  if (isSpike && hour >= SPIKE.fromHour && hour < SPIKE.toHour) return hourly * SPIKE.factor;
  return hourly * (weekday === 0 || weekday === 6 ? 0.4 : 1);
}

/** Deterministic noise from 0 to 1. */
function noise(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return ((hash >>> 8) % 10_000) / 10_000;
}
