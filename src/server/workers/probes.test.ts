import { describe, expect, it } from 'vitest';
import { createProbes, REPLACED_MISSES } from './probes.ts';

describe('the probes of workers', () => {
  function open() {
    const workers = [{ name: 'one' }, { name: 'two' }];
    const answers = new Map<string, () => void>();
    const hung: string[] = [];
    let now = 0;
    const probes = createProbes<{ name: string }>({
      clock: { monotonicMs: () => now },
      listWorkers: () => workers,
      probe: ({ name }) => new Promise<void>((resolve) => answers.set(name, resolve)),
      onHung: ({ name }) => hung.push(name),
    });
    /** `answering` answer before the next pass, which starts after `ms`. */
    const answer = async (names: string[]) => {
      for (const name of names) answers.get(name)?.();
      await Promise.resolve();
      await Promise.resolve();
    };
    const pass = async (answering: string[], ms = 2000) => {
      now += ms;
      probes.pass();
      await answer(answering);
    };
    const listMarked = () => workers.filter(probes.isHung).map(({ name }) => name);
    return { pass, answer, hung, listMarked };
  }

  it('mark and report a worker that misses several in a row, once', async () => {
    const { pass, hung, listMarked } = open();
    for (let miss = 0; miss <= REPLACED_MISSES; miss++) {
      await pass(['two']);
      expect(listMarked()).toEqual(miss >= 3 ? ['one'] : []);
    }
    expect(hung).toEqual(['one']);
    await pass(['two']);
    expect(hung).toEqual(['one']);
  });

  it('forget the misses of a worker that answers late', async () => {
    const { pass, answer, hung, listMarked } = open();
    for (let round = 0; round < 5; round++) {
      for (let miss = 0; miss < REPLACED_MISSES; miss++) await pass(['two']);
      expect(listMarked()).toEqual(['one']);
      await answer(['one']);
      expect(listMarked()).toEqual([]);
    }
    expect(hung).toEqual([]);
  });

  it('count nothing while the process that probes is delayed itself', async () => {
    const { pass, hung, listMarked } = open();
    await pass([]);
    for (let miss = 0; miss < 3 * REPLACED_MISSES; miss++) await pass([], 4001);
    expect([hung, listMarked()]).toEqual([[], []]);
    for (let miss = 0; miss < REPLACED_MISSES; miss++) await pass([]);
    expect(hung).toEqual(['one', 'two']);
  });
});
