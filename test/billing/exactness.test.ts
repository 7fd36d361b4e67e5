import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { formatDecimal, sumDecimals } from '../../src/kernel/numbers/decimal.ts';
import type { Metric } from '../../src/management/billing/meter.ts';
import { getApplicablePrice } from '../../src/management/billing/prices/applicable-price.ts';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { LIST_PRICES } from '../../src/management/billing/prices/price-book.ts';
import { isLongRun } from '../support/long-run.ts';
import { actor, type Event, type TestOrganization, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// Each store starts an engine; a million events in long runs.
vi.setConfig({ testTimeout: 600_000 });

const DAYS = ['2026-11-08', '2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12'];
const LAST = '2026-11-14';

const formatMillionths = (digits: bigint) => formatDecimal({ digits, scale: 6 });

/** The day, entity and quantity of an event. */
const eventInput = fc.record({
  day: fc.constantFrom(...DAYS),
  minute: fc.integer({ min: 0, max: 1439 }),
  kind: fc.constantFrom('a', 'b', 'warehouse', 'pipe'),
  millionths: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.bigInt({ min: 0n, max: 10n ** 15n })),
});

const scenario = fc.record({
  events: fc.array(eventInput, { minLength: 1, maxLength: 40 }),
  /** Events that are sent again. */
  extra: fc.array(fc.nat(), { maxLength: 30 }),
  shuffle: fc.array(fc.nat(), { minLength: 70, maxLength: 70 }),
  /** The sizes of the batches, and the operation after each: rate, nothing, or lock a day. */
  cuts: fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 15 }), next: fc.constantFrom('rate', 'nothing', ...DAYS) }),
    { minLength: 1, maxLength: 12 },
  ),
});

type EventInput = typeof eventInput extends fc.Arbitrary<infer T> ? T : never;

function createEvent(
  org: TestOrganization,
  { day, minute, kind, millionths: amount }: EventInput,
  index: number,
): Event {
  const at = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const entity = {
    a: { entityType: 'service', entityId: org.a, meter: 'compute' },
    b: { entityType: 'service', entityId: org.b, meter: 'publicDataTransfer' },
    warehouse: { entityType: 'datawarehouse', entityId: org.warehouse, meter: 'backup' },
    pipe: { entityType: 'clickpipe', entityId: org.clickpipe, meter: 'dataTransfer' },
  }[kind];
  return org.event({ id: `event ${index}`, time: `${day}T${at}:00Z`, quantity: formatMillionths(amount), ...entity });
}

/** The expected total: each day, entity and meter rounded once. */
function calculateExpectedMicros(events: readonly Event[]): number {
  const sums = new Map<string, { meter: Metric; entityType: string; quantities: string[] }>();
  for (const { time, entityType, entityId, meter, quantity } of events) {
    const key = `${time.slice(0, 10)} ${entityType} ${entityId} ${meter}`;
    const line = sums.get(key) ?? { meter: meter as Metric, entityType, quantities: [] };
    line.quantities.push(String(quantity));
    sums.set(key, line);
  }
  return [...sums.values()].reduce((total, { meter, entityType, quantities }) => {
    const price = getApplicablePrice(LIST_PRICES, { meter, entityType: entityType as never, tier: 'SCALE' });
    return total + calculateCostMicros(meter, sumDecimals(quantities), price);
  }, 0);
}

onEachStore('costs', (store) => {
  const metering = useMetering(store);

  it('are the same however events are shuffled, repeated, split and delayed, and whenever days are rated and locked', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const { rating } = metering.domains;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ events, extra, shuffle, cuts }) => {
        const org = await metering.organization();
        const sent = events.map((one, index) => createEvent(org, one, index));
        const delivery = [...sent, ...extra.map((place) => sent[place % sent.length] as Event)];
        const order = delivery
          .map((event, index) => ({ event, at: shuffle[index] ?? 0 }))
          .sort((x, y) => x.at - y.at)
          .map(({ event }) => event);
        const final = new Map<string, unknown>();
        let accepted = 0;
        for (let round = 0; order.length > 0; round++) {
          const { size, next } = cuts[round % cuts.length] as { size: number; next: string };
          accepted += (await org.send(order.splice(0, size))).accepted;
          if (next === 'rate') await rating.rateChanged(org.id);
          else if (next !== 'nothing') {
            await rating.lockDays(actor, org.id, next);
            for (const day of DAYS.filter((one) => one <= next && !final.has(one)))
              final.set(day, await org.costs(day));
          }
        }
        await rating.rateChanged(org.id);
        await org.expectExact();
        await rating.lockDays(actor, org.id, LAST);
        expect(accepted).toBe(sent.length);
        expect(await org.total('2026-11-01', LAST)).toBe(calculateExpectedMicros(sent));
        for (const [day, costs] of final) expect(await org.costs(day)).toEqual(costs);
        await rating.rateAll({ organizationId: org.id }, 'all');
        expect(await org.total('2026-11-01', '2026-11-15')).toBe(calculateExpectedMicros(sent));
        await org.expectExact();
      }),
      // Shrinking would take minutes: each run uses a real store and a real engine.
      { numRuns: isLongRun ? 20 : 3, endOnFailure: true },
    );
  });
});

/** A million in long runs. */
const EVENTS = isLongRun ? 1_000_000 : 20_000;
const BATCH = isLongRun ? 100_000 : 10_000;

describe(`${EVENTS} events`, () => {
  const metering = useMetering('libsql');

  it('cost exactly the same as their sum', async () => {
    const org = await metering.organization();
    metering.clock.set('2026-11-15T12:00:00Z');
    let sum = 0n;
    const batch = (from: number) =>
      Array.from({ length: BATCH }, (_, index) => {
        const number = from + index;
        const amount = BigInt(number % 1009) * 1_000_003n + BigInt(number);
        sum += amount;
        const second = number % 43_200;
        return org.event({
          id: String(number),
          time: new Date(Date.parse('2026-11-14T00:00:00Z') + second * 1000).toISOString(),
          quantity: formatMillionths(amount),
        });
      });
    for (let from = 0; from < EVENTS; from += BATCH)
      expect(await org.send(batch(from))).toMatchObject({ accepted: BATCH, duplicates: 0, rejected: 0 });
    await metering.domains.rating.rateChanged();
    const expected = calculateCostMicros('compute', formatMillionths(sum), '0.2985');
    expect(await org.ledger('2026-11-14')).toMatchObject([{ quantity: formatMillionths(sum), micros: expected }]);
    expect(await org.total('2026-11-14', '2026-11-14')).toBe(expected);
    const again = Array.from({ length: 1000 }, (_, index) => org.event({ id: String(index * (EVENTS / 1000 - 3)) }));
    expect(await org.send(again)).toMatchObject({ accepted: 0, duplicates: 1000 });
    await metering.domains.rating.rateChanged();
    expect(await org.total('2026-11-14', '2026-11-15')).toBe(expected);
  });
});
