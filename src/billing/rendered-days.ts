import { type Day, daysBetween } from '../kernel/days.ts';
import { type Cost, totalMicros } from './cost.ts';
import type { Costs } from './costs.ts';
import type { Window } from './window.ts';

/** The records of one day as they go over the wire, without the brackets around them. */
export interface RenderedDay {
  json: Buffer;
  micros: number;
}

interface Kept extends RenderedDay {
  costRevision: number;
}

const KEPT_BYTES = 32 * 1024 * 1024;
/** How many days one query reads: few enough to keep its rows small, many enough to save round trips. */
const DAYS_PER_QUERY = 8;

export type RenderedDays = ReturnType<typeof createRenderedDays>;

/**
 * Days are rendered once and kept until the organization's ledger changes. A long window is walked day by day, so
 * that an answer of any size needs the memory of a few days.
 */
export function createRenderedDays({ costs, render }: { costs: Costs; render: (cost: Cost) => string }) {
  const kept = new Map<string, Kept>();
  let keptBytes = 0;

  function keep(id: string, day: Kept): void {
    forget(id);
    for (const [oldest] of kept) {
      if (keptBytes + day.json.length <= KEPT_BYTES) break;
      forget(oldest);
    }
    kept.set(id, day);
    keptBytes += day.json.length;
  }

  function forget(id: string): void {
    keptBytes -= kept.get(id)?.json.length ?? 0;
    kept.delete(id);
  }

  function rendered(records: readonly Cost[]): RenderedDay {
    return { json: Buffer.from(records.map(render).join(',')), micros: records.reduce((sum, cost) => sum + totalMicros(cost), 0) };
  }

  return async function* renderedDays(organizationId: string, costRevision: number, { from, to }: Window): AsyncGenerator<RenderedDay> {
    const idOf = (day: Day) => `${organizationId} ${day}`;
    const fresh = (day: Day) => {
      const found = kept.get(idOf(day));
      return found?.costRevision === costRevision ? found : undefined;
    };
    const days = daysBetween(from, to);
    for (let next = 0; next < days.length; ) {
      const known = fresh(days[next] ?? '');
      if (known) {
        yield known;
        next++;
        continue;
      }
      const end = days.findIndex((day, index) => index > next && (index === next + DAYS_PER_QUERY || fresh(day) !== undefined));
      const missing = days.slice(next, end === -1 ? undefined : end);
      next += missing.length;
      for (const [missed, records] of await costs.byDay(organizationId, missing)) {
        const result = rendered(records);
        keep(idOf(missed), { ...result, costRevision });
        yield result;
      }
    }
  };
}
