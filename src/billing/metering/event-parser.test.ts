import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventParser } from './event-parser.ts';

const byTheRules = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const event = {
  id: 'a-1',
  source: 'agent',
  time: '2026-10-01T00:00:00Z',
  entityType: 'service',
  entityId: 's-1',
  meter: 'compute',
  quantity: 6.25,
};

describe('event parser', () => {
  it('reads every text as JSON does, whatever came before it', () => {
    const names = fc.shuffledSubarray([...Object.keys(event), '__proto__', 'a"b'], { minLength: 6 });
    const inOrder = fc.constantFrom(Object.keys(event), Object.keys(event).reverse());
    const member = fc.oneof(
      { weight: 5, arbitrary: fc.string({ unit: 'binary' }) },
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.integer(),
      fc.constantFrom(null, true, [], {}),
    );
    const written = fc
      .tuple(fc.oneof(names, inOrder), fc.array(member, { minLength: 9, maxLength: 9 }), fc.constantFrom(undefined, 1))
      .map(([members, values, space]) =>
        JSON.stringify(Object.fromEntries(members.map((name, at) => [name, values[at]])), null, space),
      );
    const bent = fc
      .tuple(written, fc.nat(), fc.constantFrom('"', '}', '{', '\\', ',', '0', '\n', ' '))
      .map(([text, at, mark]) => text.slice(0, at % (text.length + 1)) + mark + text.slice(at % (text.length + 1)));
    const alike = fc.constantFrom(
      ...['1', '01', '-0', '1.', '1e5', '.5', '+1', '0x1', '""', '"\\u0041"', '"\t"', 'NaN'].map((quantity) =>
        JSON.stringify({ ...event, quantity: 0 }).replace(/0}$/, `${quantity}}`),
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(written, bent, alike), { minLength: 2, maxLength: 12 }), (texts) => {
        const parse = createEventParser();
        for (const text of texts) expect(parse(text)).toEqual(byTheRules(text));
      }),
      { numRuns: 500 },
    );
  });

  it('goes on after a text that is none', () => {
    const parse = createEventParser();
    const text = JSON.stringify(event);
    expect([text, undefined, '{', text, `${text},${text}`, text].map(parse)).toEqual([
      event,
      undefined,
      undefined,
      event,
      undefined,
      event,
    ]);
  });

  it('takes nothing that is too long to be an event', () => {
    expect(createEventParser()(JSON.stringify({ ...event, id: 'x'.repeat(20_000) }))).toBeUndefined();
  });
});
