import type { EntityType } from '../../billing/entity.ts';
import type { Metric } from '../../billing/meter.ts';
import { DAY_MS, isoSeconds, MINUTE_MS } from '../../kernel/clock.ts';
import type { Day } from '../../kernel/days.ts';

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
  /** Has unusually high usage on the day of the anomaly. */
  isAnomalous?: boolean;
}

/** One day in ninety, so that the 90 days of the demo always contain exactly one. */
const ANOMALY = { every: 90, on: 37, fromHour: 9, toHour: 21, factor: 3.5 };
const GROWTH_PER_DAY = 0.001;
const GROWS_SINCE = Math.floor(Date.parse('2026-01-01T00:00:00Z') / DAY_MS);
const SOURCE = 'demo';

/** The usage events of a day up to `untilMs`, as JSON text. Deterministic for each day. */
export function* generateUsage(meters: readonly DemoMeter[], date: Day, untilMs: number): Generator<string> {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  for (const meter of meters) {
    const stepMs = meter.everyMinutes * MINUTE_MS;
    for (let at = midnight; at < midnight + DAY_MS && at + stepMs <= untilMs; at += stepMs)
      yield createEvent(meter, at);
  }
}

function createEvent(meter: DemoMeter, ms: number): string {
  const { entityType, entityId, meter: name } = meter;
  const time = isoSeconds(ms);
  const id = `${entityId}/${name}/${time}`;
  const amount = meter.quantity * (meter.shape === 'stored' ? growth(ms) : load(ms, meter)) * (0.9 + 0.2 * noise(id));
  // Compute units may be fractional, bytes may not.
  const quantity = name === 'compute' ? Math.round(amount * 100) / 100 : Math.round(amount);
  return JSON.stringify({ id, source: SOURCE, time, entityType, entityId, meter: name, quantity: String(quantity) });
}

const growth = (ms: number): number => 1 + (Math.floor(ms / DAY_MS) - GROWS_SINCE) * GROWTH_PER_DAY;

/** Low at night and on weekends, high during the day. */
function load(ms: number, { isAnomalous = false }: DemoMeter): number {
  const day = Math.floor(ms / DAY_MS);
  const hour = (ms % DAY_MS) / (60 * MINUTE_MS);
  const weekday = (day + 4) % 7;
  const hourly = 1 - 0.55 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
  if (isAnomalous && day % ANOMALY.every === ANOMALY.on && hour >= ANOMALY.fromHour && hour < ANOMALY.toHour)
    return hourly * ANOMALY.factor;
  return hourly * (weekday === 0 || weekday === 6 ? 0.4 : 1);
}

/** Deterministic noise from 0 to 1. */
function noise(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return ((hash >>> 8) % 10_000) / 10_000;
}
