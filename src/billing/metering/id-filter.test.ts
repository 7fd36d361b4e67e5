import { describe, expect, it } from 'vitest';
import { hashOf } from './batch.ts';
import { createIdFilter } from './id-filter.ts';

describe('the filter of counted ids', () => {
  it('never forgets one, also when it holds many times what was expected', () => {
    const filter = createIdFilter(1000);
    const ids = Array.from({ length: 700_000 }, (_, index) => hashOf('source', `id ${index}`));
    for (const id of ids) filter.add(id);
    expect(ids.every((id) => filter.mayHave(id))).toBe(true);
    const strangers = Array.from({ length: 20_000 }, (_, index) => hashOf('another', `id ${index}`));
    expect(strangers.filter((id) => filter.mayHave(id)).length).toBeLessThan(10);
    expect(filter.bytes()).toBeLessThan(4 * 1024 * 1024);
  });

  it('tells source and id apart', () => {
    expect(hashOf('a', 'bc')).not.toBe(hashOf('ab', 'c'));
    expect(hashOf('', '')).toHaveLength(16);
  });
});
