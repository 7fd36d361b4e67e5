import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, sumDecimals } from '../../../kernel/numbers/decimal.ts';
import { bookDay, type LedgerEntry, type UsageTotal } from './ledger.ts';

const total = (quantity: string): UsageTotal => ({ entityType: 'service', entityId: 's', meter: 'compute', quantity });
const price = { priceVersion: 1, unitPrice: '0.2985' };
const entry = (date: string, quantity: string, micros: number): LedgerEntry => ({
  ...total(quantity),
  ...price,
  date,
  usageDate: '2026-11-01',
  micros,
});
const formatMillionths = (digits: bigint) => formatDecimal({ digits, scale: 6 });
const book = (quantity: string, booked: LedgerEntry[], lockedThrough: string) =>
  bookDay({
    day: '2026-11-01',
    totals: [total(quantity)],
    booked,
    isFinal: (date) => date <= lockedThrough,
    getOpenDay: () => '2026-11-08',
    getPrice: () => price,
  });

describe('booking a day', () => {
  it('books usage on its own day while it is open, and changes nothing when it is booked already', () => {
    const { put, remove } = book('60', [], '');
    expect({ put, remove }).toEqual({ put: [entry('2026-11-01', '60', 298_500)], remove: [] });
    expect(book('60', put, '')).toEqual({ put: [], remove: [] });
    expect(book('120', put, '')).toEqual({ put: [entry('2026-11-01', '120', 597_000)], remove: [] });
  });

  it('never loses a micro-CHC between a locked day and its adjustments, however usage is split', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 20 }), (parts) => {
        let sum = 0n;
        let booked: LedgerEntry[] = [];
        for (const [index, part] of parts.entries()) {
          sum += part;
          // Everything booked so far is locked each time.
          const { put, remove } = bookDay({
            day: '2026-11-01',
            totals: [total(formatMillionths(sum))],
            booked,
            isFinal: () => booked.length > 0,
            getOpenDay: () => `2026-12-${String(index + 1).padStart(2, '0')}`,
            getPrice: () => price,
          });
          expect(remove).toEqual([]);
          booked = [...booked, ...put];
        }
        const expected = book(formatMillionths(sum), [], '').put[0];
        expect(booked.reduce((all, { micros }) => all + micros, 0)).toBe(expected?.micros);
        expect(sumDecimals(booked.map(({ quantity }) => quantity))).toBe(formatMillionths(sum));
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

  it('keeps the price of a day until a new price book version applies', () => {
    const other = (priceVersion: number) =>
      bookDay({
        day: '2026-11-01',
        totals: [total('120')],
        booked: [entry('2026-11-01', '60', 298_500)],
        isFinal: () => false,
        getOpenDay: () => '',
        getPrice: () => ({ priceVersion, unitPrice: '0.5' }),
      }).put[0]?.micros;
    expect(other(1)).toBe(597_000);
    expect(other(2)).toBe(1_000_000);
  });

  it('rejects a cost beyond the largest supported amount', () => {
    expect(() => book('9'.repeat(18), [], '')).toThrow(/exceeds the largest supported amount/);
  });
});
