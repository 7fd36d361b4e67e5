import { expect, it } from 'vitest';
import { formatMemory, isSameMemory, parseBytes, toMemoryGb } from './quantity.ts';

it.each([
  ['16Gi', 16 * 2 ** 30],
  ['17179869184', 2 ** 34],
  [17179869184, 2 ** 34],
  ['1.5e9', 1.5e9],
  ['2E', 2e18],
  ['512M', 512e6],
  ['1000m', 1],
  ['12 Gi', undefined],
  ['Gi', undefined],
  ['1Xi', undefined],
  [undefined, undefined],
])('parses %j', (quantity, bytes) => {
  expect(parseBytes(quantity)).toBe(bytes);
});

it('a GB of a service is a GiB', () => {
  expect([toMemoryGb(2 ** 34), toMemoryGb(16e9)]).toEqual([16, 14.901]);
  expect([formatMemory(16), formatMemory(1.5)]).toEqual(['16Gi', '1536Mi']);
  expect([isSameMemory('16384Mi', 16), isSameMemory('16G', 16)]).toEqual([true, false]);
});
