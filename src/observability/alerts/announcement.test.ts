import { describe, expect, it } from 'vitest';
import { type Announcement, findAnnouncement, isQuiet, markAnnounced } from './announcement.ts';
import type { GroupState } from './judgment.ts';

const HOUR = 3_600_000;
const state: GroupState = {
  labels: [],
  status: 'firing',
  since: 0,
  breached: 1,
  missing: 0,
  cleared: 0,
  value: 1,
  seenAt: 0,
};
const announcing = { repeatMs: 4 * HOUR, isMuted: false, acknowledgedAt: undefined, channels: ['a'] };
const findKind = (...given: Parameters<typeof findAnnouncement>) => findAnnouncement(...given)?.kind;
const fired = { ...state, announced: { status: 'firing' as const, at: 0, isShared: false } };

describe('what is sent', () => {
  it('is a change, and nothing for what is pending', () => {
    expect(findKind(state, announcing, 0)).toBe('firing');
    expect(findKind({ ...state, status: 'pending' }, announcing, 0)).toBeUndefined();
    expect(findKind({ ...state, status: 'ok' }, announcing, 0)).toBeUndefined();
    expect(findKind({ ...fired, status: 'ok' }, announcing, 0)).toBe('resolved');
    expect(findKind({ ...fired, status: 'no_data' }, announcing, 0)).toBe('no_data');
  });

  it('is repeated after some time, unless a person has seen it', () => {
    expect(findKind(fired, announcing, 4 * HOUR - 1)).toBeUndefined();
    expect(findKind(fired, announcing, 4 * HOUR)).toBe('firing');
    expect(findKind(fired, announcing, -4 * HOUR)).toBe('firing');
    expect(findKind(fired, { ...announcing, repeatMs: 0 }, 400 * HOUR)).toBeUndefined();
    expect(findKind(fired, { ...announcing, acknowledgedAt: HOUR }, 400 * HOUR)).toBeUndefined();
  });

  it('goes to channels that were added, and ends wherever it was announced', () => {
    const inA = { ...fired, announced: { ...fired.announced, channels: ['a'] } };
    const inB = { ...announcing, channels: ['b'] };
    const added = findAnnouncement(inA, { ...announcing, channels: ['a', 'b'] }, HOUR);
    expect(added).toEqual({ kind: 'firing', channels: ['b'], at: 0 });
    const both = markAnnounced(inA, findAnnouncement(inA, inB, HOUR) as Announcement, false);
    expect(both.announced).toEqual({ status: 'firing', at: 0, isShared: false, channels: ['a', 'b'] });
    expect(findAnnouncement(both, inB, 4 * HOUR - 1)).toBeUndefined();
    expect(findAnnouncement(both, inB, 4 * HOUR)).toMatchObject({ kind: 'firing', channels: ['b'] });
    expect(findAnnouncement({ ...both, status: 'no_data' }, inB, HOUR)).toMatchObject({ channels: ['b'] });
    const ok = { ...both, status: 'ok' as const };
    expect(findAnnouncement(ok, inB, HOUR)).toMatchObject({ kind: 'resolved', channels: ['a', 'b'] });
    expect(findAnnouncement(inA, { ...inB, acknowledgedAt: HOUR }, HOUR)).toBeUndefined();
    expect(findAnnouncement(inA, { ...inB, isMuted: true }, HOUR)).toBeUndefined();
  });

  it('waits for the end of a silence', () => {
    expect(findKind(state, { ...announcing, isMuted: true }, 0)).toBeUndefined();
    expect(findKind({ ...fired, status: 'ok' }, { ...announcing, isMuted: true }, 0)).toBeUndefined();
  });
});

describe('quiet hours', () => {
  const at = (time: string): number => Date.parse(time);
  const nights = { timezone: 'Europe/Berlin', ranges: [{ start: '22:00', end: '07:00' }] };

  it('are local times that may end on the next day', () => {
    expect(isQuiet(nights, at('2026-11-18T20:59:00Z'))).toBe(false);
    expect(isQuiet(nights, at('2026-11-18T21:00:00Z'))).toBe(true);
    expect(isQuiet(nights, at('2026-11-19T05:59:00Z'))).toBe(true);
    expect(isQuiet(nights, at('2026-11-19T06:00:00Z'))).toBe(false);
    // Summer time.
    expect(isQuiet(nights, at('2026-07-18T20:00:00Z'))).toBe(true);
  });

  it('belong to the day on which they start', () => {
    const weekend = { ...nights, ranges: [{ days: ['fri' as const], start: '18:00', end: '08:00' }] };
    expect(isQuiet(weekend, at('2026-11-20T18:00:00Z'))).toBe(true);
    expect(isQuiet(weekend, at('2026-11-21T06:00:00Z'))).toBe(true);
    expect(isQuiet(weekend, at('2026-11-21T18:00:00Z'))).toBe(false);
    expect(isQuiet(weekend, at('2026-11-20T06:00:00Z'))).toBe(false);
  });
});
