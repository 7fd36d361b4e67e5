import type { EntityType } from '../../billing/entity.ts';
import type { Metric } from '../../billing/meter.ts';
import { DAY_MS, isoSeconds, MINUTE_MS } from '../../kernel/clock.ts';
import type { Day } from '../../kernel/days.ts';

/** What is metered for one entity of a demo, and how it runs through a week. */
export interface DemoMeter {
  entityType: EntityType;
  entityId: string;
  meter: Metric;
  everyMinutes: number;
  /** In one event on an ordinary weekday, averaged over the day. */
  quantity: number;
  /** What is stored grows a little every day; what is used follows the hours and the week. */
  shape: 'stored' | 'used';
  /** The one whose query runs away on the day of the anomaly. */
  isAnomalous?: boolean;
}

/** One day in ninety, so that there is always exactly one to find. */
const ANOMALY = { every: 90, on: 37, fromHour: 9, toHour: 21, factor: 3.5 };
const GROWTH_PER_DAY = 0.001;
const GROWS_SINCE = Math.floor(Date.parse('2026-01-01T00:00:00Z') / DAY_MS);
const SOURCE = 'demo';

/** The events of a day up to a moment, as JSON texts. The same day always has the same. */
export function* usageOfDay(meters: readonly DemoMeter[], date: Day, untilMs: number): Generator<string> {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  for (const meter of meters) {
    const stepMs = meter.everyMinutes * MINUTE_MS;
    for (let at = midnight; at < midnight + DAY_MS && at + stepMs <= untilMs; at += stepMs) yield eventAt(meter, at);
  }
}

function eventAt(meter: DemoMeter, ms: number): string {
  const { entityType, entityId, meter: name } = meter;
  const time = isoSeconds(ms);
  const id = `${entityId}/${name}/${time}`;
  const amount = meter.quantity * (meter.shape === 'stored' ? growth(ms) : load(ms, meter)) * (0.9 + 0.2 * wobble(id));
  // Units of compute come in fractions, bytes do not.
  const quantity = name === 'compute' ? Math.round(amount * 100) / 100 : Math.round(amount);
  return JSON.stringify({ id, source: SOURCE, time, entityType, entityId, meter: name, quantity: String(quantity) });
}

const growth = (ms: number): number => 1 + (Math.floor(ms / DAY_MS) - GROWS_SINCE) * GROWTH_PER_DAY;

/** Quiet nights, a long working day, slow weekends. */
function load(ms: number, { isAnomalous = false }: DemoMeter): number {
  const day = Math.floor(ms / DAY_MS);
  const hour = (ms % DAY_MS) / (60 * MINUTE_MS);
  const weekday = (day + 4) % 7;
  const ofDay = 1 - 0.55 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
  if (isAnomalous && day % ANOMALY.every === ANOMALY.on && hour >= ANOMALY.fromHour && hour < ANOMALY.toHour)
    return ofDay * ANOMALY.factor;
  return ofDay * (weekday === 0 || weekday === 6 ? 0.4 : 1);
}

/** 0 to 1, always the same for the same text. */
function wobble(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return ((hash >>> 8) % 10_000) / 10_000;
}
