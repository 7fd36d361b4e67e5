import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bookDay, type LedgerEntry, type Total } from './ledger.ts';
import { millionths, quantityOf } from './quantity.ts';

const total = (quantity: string): Total => ({ entityType: 'service', entityId: 's', meter: 'compute', quantity });
const price = { priceVersion: 1, unitPrice: '0.2985' };
const entry = (date: string, quantity: string, micros: number): LedgerEntry => ({
  ...total(quantity),
  ...price,
  date,
  usageDate: '2026-11-01',
  micros,
});
const book = (quantity: string, booked: LedgerEntry[], lockedThrough: string) =>
  bookDay({
    day: '2026-11-01',
    totals: [total(quantity)],
    booked,
    isFinal: (date) => date <= lockedThrough,
    openDayOf: () => '2026-11-08',
    priceOf: () => price,
  });

describe('quantities', () => {
  it('are the same text after any way through millionths', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        (value) => millionths(quantityOf(value)) === value,
      ),
    );
    expect(['0', '1', '1.5', '0.000001', '-0.25', '10.100000'].map((text) => quantityOf(millionths(text)))).toEqual([
      '0',
      '1',
      '1.5',
      '0.000001',
      '-0.25',
      '10.1',
    ]);
  });
});

describe('booking a day', () => {
  it('puts usage on its own day while it is open, and nothing when it stands there already', () => {
    const { put, remove } = book('60', [], '');
    expect({ put, remove }).toEqual({ put: [entry('2026-11-01', '60', 298_500)], remove: [] });
    expect(book('60', put, '')).toEqual({ put: [], remove: [] });
    expect(book('120', put, '')).toEqual({ put: [entry('2026-11-01', '120', 597_000)], remove: [] });
  });

  it('never loses a micro-credit between a locked day and its adjustments, however usage was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 20 }), (parts) => {
        let sum = 0n;
        let booked: LedgerEntry[] = [];
        for (const [index, part] of parts.entries()) {
          sum += part;
          // Each time everything that is booked so far is locked.
          const { put, remove } = bookDay({
            day: '2026-11-01',
            totals: [total(quantityOf(sum))],
            booked,
            isFinal: () => booked.length > 0,
            openDayOf: () => `2026-12-${String(index + 1).padStart(2, '0')}`,
            priceOf: () => price,
          });
          expect(remove).toEqual([]);
          booked = [...booked, ...put];
        }
        const right = book(quantityOf(sum), [], '').put[0];
        expect(booked.reduce((all, { micros }) => all + micros, 0)).toBe(right?.micros);
        expect(quantityOf(booked.reduce((all, one) => all + millionths(one.quantity), 0n))).toBe(quantityOf(sum));
      }),
    );
  });

  it('replaces an open adjustment and removes one that is no longer needed', () => {
    const locked = entry('2026-11-01', '60', 298_500);
    const late = entry('2026-11-08', '30', 149_250);
    expect(book('90', [locked], '2026-11-07')).toEqual({ put: [late], remove: [] });
    expect(book('90', [locked, late], '2026-11-07')).toEqual({ put: [], remove: [] });
    expect(book('60', [locked, late], '2026-11-07')).toEqual({ put: [], remove: [late] });
  });

  it('keeps the price of a day unless the book has a new version', () => {
    const other = (priceVersion: number) =>
      bookDay({
        day: '2026-11-01',
        totals: [total('120')],
        booked: [entry('2026-11-01', '60', 298_500)],
        isFinal: () => false,
        openDayOf: () => '',
        priceOf: () => ({ priceVersion, unitPrice: '0.5' }),
      }).put[0]?.micros;
    expect(other(1)).toBe(597_000);
    expect(other(2)).toBe(1_000_000);
  });

  it('refuses what no bill can hold', () => {
    expect(() => book('9'.repeat(18), [], '')).toThrow(/more than a bill can hold/);
  });
});
