import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBackgroundLoop } from './background-loop.ts';

describe('background loop', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const failOnError = (error: unknown) => {
    throw error;
  };

  it('runs immediately when started, then after each interval', async () => {
    let passes = 0;
    const loop = createBackgroundLoop({ run: () => void passes++, everyMs: 1000, onError: failOnError });
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(passes).toBe(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(passes).toBe(3);
    await loop.close();
    await vi.advanceTimersByTimeAsync(5000);
    expect(passes).toBe(3);
  });

  it('never overlaps passes: requests during a pass become one more pass', async () => {
    let [active, most, passes] = [0, 0, 0];
    const loop = createBackgroundLoop({
      async run() {
        passes++;
        most = Math.max(most, ++active);
        await new Promise((resolve) => setTimeout(resolve, 100));
        active--;
      },
      onError: failOnError,
    });
    const all = [loop.trigger(), loop.trigger(), loop.trigger()];
    await vi.advanceTimersByTimeAsync(200);
    await Promise.all(all);
    expect({ passes, most }).toEqual({ passes: 2, most: 1 });
  });

  it('reports a failed pass and continues', async () => {
    const errors: unknown[] = [];
    let passes = 0;
    const loop = createBackgroundLoop({
      run() {
        if (++passes === 1) throw new Error('first');
      },
      everyMs: 1000,
      onError: (error) => void errors.push(error),
    });
    loop.start();
    await vi.advanceTimersByTimeAsync(1000);
    expect(passes).toBe(2);
    expect(errors).toEqual([new Error('first')]);
    await loop.close();
  });

  it('replaces a scheduled pass by a later one', async () => {
    let passes = 0;
    const loop = createBackgroundLoop({ run: () => void passes++, onError: failOnError });
    loop.schedule(200);
    await vi.advanceTimersByTimeAsync(150);
    loop.schedule(200);
    await vi.advanceTimersByTimeAsync(150);
    expect(passes).toBe(0);
    await vi.advanceTimersByTimeAsync(50);
    expect(passes).toBe(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(passes).toBe(1);
    await loop.close();
  });

  it('waits for the running pass when closed and starts no other', async () => {
    let isDone = false;
    const loop = createBackgroundLoop({
      async run() {
        await new Promise((resolve) => setTimeout(resolve, 100));
        isDone = true;
      },
      everyMs: 10,
      onError: failOnError,
    });
    loop.start();
    const closed = loop.close();
    loop.schedule(1);
    await vi.advanceTimersByTimeAsync(1000);
    await closed;
    expect(isDone).toBe(true);
    expect(loop.isScheduled()).toBe(false);
  });

  it('runs the periodic pass although passes are requested all the time', async () => {
    let passes = 0;
    const loop = createBackgroundLoop({ run: () => void passes++, everyMs: 1000, onError: failOnError });
    loop.startAfterPause();
    for (let elapsedMs = 0; elapsedMs < 3000; elapsedMs += 100) {
      loop.schedule(200);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(passes).toBeGreaterThanOrEqual(2);
    await loop.close();
  });

  it('waits before the first pass when started after a pause', async () => {
    let passes = 0;
    const loop = createBackgroundLoop({ run: () => void passes++, everyMs: 1000, onError: failOnError });
    loop.startAfterPause();
    await vi.advanceTimersByTimeAsync(999);
    expect(passes).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(passes).toBe(1);
    await loop.close();
  });
});
