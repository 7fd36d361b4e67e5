import { describe, expect, it } from 'vitest';
import { hashEventId } from './event-batch.ts';
import { createIdFilter } from './id-filter.ts';

describe('the id filter', () => {
  it('contains every added id, even far beyond its expected size', () => {
    const filter = createIdFilter(1000);
    const ids = Array.from({ length: 700_000 }, (_, index) => hashEventId('source', `id ${index}`));
    for (const id of ids) filter.add(id);
    expect(ids.every((id) => filter.mayContain(id))).toBe(true);
    const otherIds = Array.from({ length: 20_000 }, (_, index) => hashEventId('another', `id ${index}`));
    expect(otherIds.filter((id) => filter.mayContain(id)).length).toBeLessThan(10);
    expect(filter.bytes()).toBeLessThan(4 * 1024 * 1024);
  });

  it('distinguishes source and id', () => {
    expect(hashEventId('a', 'bc')).not.toBe(hashEventId('ab', 'c'));
    expect(hashEventId('', '')).toHaveLength(16);
  });
});
