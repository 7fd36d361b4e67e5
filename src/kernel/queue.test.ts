import { describe, expect, it } from 'vitest';
import { createKeyedQueue, createQueue } from './queue.ts';

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('queue', () => {
  it('runs at most the given number of tasks at a time, in order', async () => {
    const queue = createQueue({ concurrency: 2 });
    const gates = [deferred(), deferred(), deferred()];
    const started: number[] = [];
    const tasks = gates.map(({ promise }, index) =>
      queue.run(async () => {
        started.push(index);
        await promise;
      }),
    );
    await new Promise(setImmediate);
    expect(started).toEqual([0, 1]);
    gates[1]?.resolve();
    await tasks[1];
    await new Promise(setImmediate);
    expect(started).toEqual([0, 1, 2]);
    gates[0]?.resolve();
    gates[2]?.resolve();
    await Promise.all(tasks);
    expect(queue.isIdle()).toBe(true);
  });

  it('releases the slot of a task that fails', async () => {
    const queue = createQueue({ concurrency: 1 });
    await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(
      queue.run(() => {
        throw new Error('thrown');
      }),
    ).rejects.toThrow('thrown');
    expect(await queue.run(() => 'next')).toBe('next');
  });

  it('rejects a task when the queue is full', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 1, onFull: () => new Error('full') });
    const gate = deferred();
    const first = queue.run(() => gate.promise);
    const second = queue.run(() => 2);
    await expect(queue.run(() => 3)).rejects.toThrow('full');
    gate.resolve();
    await first;
    expect(await second).toBe(2);
  });

  it('cancels a waiting task and leaves the others in order', async () => {
    const queue = createQueue({ concurrency: 1, onCanceled: () => new Error('canceled') });
    const gate = deferred();
    const first = queue.run(() => gate.promise);
    const controller = new AbortController();
    const second = queue.run(() => 2, controller.signal);
    const third = queue.run(() => 3);
    controller.abort();
    await expect(second).rejects.toThrow('canceled');
    await expect(queue.run(() => 4, controller.signal)).rejects.toThrow('canceled');
    gate.resolve();
    await first;
    expect(await third).toBe(3);
  });

  it('keeps one queue per key', async () => {
    const queue = createKeyedQueue({ concurrency: 1 });
    const gate = deferred();
    const first = queue.run('a', () => gate.promise);
    expect(await queue.run('b', () => 'runs at once')).toBe('runs at once');
    expect(queue.isIdle('a')).toBe(false);
    gate.resolve();
    await first;
    expect(queue.isIdle('a')).toBe(true);
  });
});
