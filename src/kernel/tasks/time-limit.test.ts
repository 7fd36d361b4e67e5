import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { limitTime } from './time-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a time limit', () => {
  it('ends the work, also if only the work refers to it and garbage is collected meanwhile', async () => {
    const { signal } = new AbortController();
    let ended = 0;
    for (let work = 0; work < 20; work++) limitTime(200, signal).addEventListener('abort', () => ended++);
    await expect
      .poll(
        () => {
          collectGarbage();
          return ended;
        },
        { timeout: 20_000 },
      )
      .toBe(20);
  });

  it('has the reason of what aborted it', async () => {
    const outer = new AbortController();
    const canceled = limitTime(60_000, outer.signal);
    outer.abort(new Error('canceled'));
    expect(canceled.reason).toEqual(new Error('canceled'));
    const late = limitTime(1, new AbortController().signal);
    await expect.poll(() => late.aborted).toBe(true);
    expect(late.reason.name).toBe('TimeoutError');
  });
});
