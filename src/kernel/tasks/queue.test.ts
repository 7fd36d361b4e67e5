import { describe, expect, it } from 'vitest';
import { createFairQueue, createKeyedQueue, createQueue } from './queue.ts';

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

  it('rejects a task that waits too long, and starts the next one', async () => {
    const queue = createQueue({ concurrency: 1, maxWaitMs: 20, onTimeout: () => new Error('too long') });
    const gate = deferred();
    const running = queue.run(() => gate.promise);
    await expect(queue.run(() => 'late')).rejects.toThrow('too long');
    const next = queue.run(() => 'next');
    gate.resolve();
    await running;
    expect(await next).toBe('next');
    expect(queue.isIdle()).toBe(true);
  });

  it('rejects a canceled task with the reason of its signal', async () => {
    const queue = createQueue({ concurrency: 1 });
    const gate = deferred();
    const running = queue.run(() => gate.promise);
    const abort = new AbortController();
    const waiting = queue.run(() => 'canceled', abort.signal);
    abort.abort(new Error('closed'));
    await expect(waiting).rejects.toThrow('closed');
    await expect(queue.run(() => 'canceled', abort.signal)).rejects.toThrow('closed');
    gate.resolve();
    await running;
    expect(queue.isIdle()).toBe(true);
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

describe('fair queue', () => {
  /** Tasks that run until they are ended by name, and the order in which they started. */
  function createTasks(queue: ReturnType<typeof createFairQueue>) {
    const started: string[] = [];
    const gates = new Map<string, ReturnType<typeof deferred>>();
    const add = (key: string, name: string, signal?: AbortSignal) => {
      const gate = deferred();
      gates.set(name, gate);
      return queue.run(
        key,
        async () => {
          started.push(name);
          await gate.promise;
        },
        signal,
      );
    };
    const end = async (name: string) => {
      gates.get(name)?.resolve();
      await new Promise(setImmediate);
    };
    return { started, add, end };
  }
  const names = (key: string, count: number) => Array.from({ length: count }, (_, index) => `${key}${index}`);

  it('keeps slots free: one key cannot occupy all of them', async () => {
    const tasks = createTasks(createFairQueue({ concurrency: 4, concurrencyPerKey: 3 }));
    for (const name of names('a', 12)) void tasks.add('a', name);
    void tasks.add('b', 'b0');
    await new Promise(setImmediate);
    expect(tasks.started).toEqual(['a0', 'a1', 'a2', 'b0']);
  });

  it('gives the next free slot to the key with the fewest running tasks, whatever waited before', async () => {
    const tasks = createTasks(createFairQueue({ concurrency: 4, concurrencyPerKey: 3 }));
    for (const name of names('a', 6)) void tasks.add('a', name);
    for (const name of names('b', 6)) void tasks.add('b', name);
    void tasks.add('c', 'c0');
    await new Promise(setImmediate);
    expect(tasks.started).toEqual(['a0', 'a1', 'a2', 'b0']);
    await tasks.end('a0');
    expect(tasks.started.at(-1)).toBe('c0');
    await tasks.end('a1');
    expect(tasks.started.at(-1)).toBe('b1');
  });

  it('lets keys with the same number of running tasks take turns', async () => {
    const tasks = createTasks(createFairQueue({ concurrency: 1, concurrencyPerKey: 1 }));
    for (const key of ['a', 'b', 'c']) for (const name of names(key, 3)) void tasks.add(key, name);
    await new Promise(setImmediate);
    for (let turn = 0; turn < 8; turn++) await tasks.end(tasks.started.at(-1) ?? '');
    expect(tasks.started).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  });

  it('limits the waiting tasks of each key, and forgets idle keys', async () => {
    const queue = createFairQueue({ concurrency: 1, concurrencyPerKey: 1, maxWaiting: 1 });
    const tasks = createTasks(queue);
    const first = tasks.add('a', 'a0');
    const second = tasks.add('a', 'a1');
    await expect(tasks.add('a', 'a2')).rejects.toThrow('full');
    const controller = new AbortController();
    const canceled = tasks.add('b', 'b0', controller.signal);
    controller.abort(new Error('canceled'));
    await expect(canceled).rejects.toThrow('canceled');
    expect(queue.isIdle('b')).toBe(true);
    await tasks.end('a0');
    await tasks.end('a1');
    await Promise.all([first, second]);
    expect(queue.isIdle('a')).toBe(true);
    expect(tasks.started).toEqual(['a0', 'a1']);
  });
});
