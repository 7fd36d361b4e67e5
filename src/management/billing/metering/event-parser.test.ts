import { describe, expect, it } from 'vitest';
import { parseEvent } from './event-parser.ts';

const event = {
  id: 'a-1',
  source: 'agent',
  time: '2026-10-01T00:00:00Z',
  entityType: 'service',
  entityId: 's-1',
  meter: 'compute',
  quantity: 6.25,
};

describe('parseEvent', () => {
  it('returns the value of a JSON string', () => {
    expect(parseEvent(JSON.stringify(event))).toEqual(event);
    expect(parseEvent(` ${JSON.stringify(event, null, 2)}\r`)).toEqual(event);
    expect(parseEvent('{"id":"\\u0041"}')).toEqual({ id: 'A' });
  });

  it('returns undefined for anything but JSON', () => {
    const text = JSON.stringify(event);
    for (const broken of [undefined, '', '{', `${text},${text}`, text.slice(0, -1), text.replace('6.25', '06')])
      expect(parseEvent(broken)).toBeUndefined();
  });

  it('returns undefined for a string that is too long for an event', () => {
    expect(parseEvent(JSON.stringify({ ...event, id: 'x'.repeat(20_000) }))).toBeUndefined();
  });
});
