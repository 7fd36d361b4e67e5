import { expect, it } from 'vitest';
import { countProgress, createProgressLog, inSteps, type Progress } from './progress.ts';

it('reports the sum of all steps, and lets timers run in between', async () => {
  const reports: Progress[] = [];
  const sizes: number[] = [];
  let turns = 0;
  const count = () => {
    turns += 1;
    handle = setImmediate(count);
  };
  let handle = setImmediate(count);
  await inSteps(
    Array.from({ length: 2500 }, (_, index) => index),
    async (part) => void sizes.push(part.length),
    countProgress('store', 2500, (progress) => reports.push(progress)),
  );
  clearImmediate(handle);
  expect(sizes).toEqual([1000, 1000, 500]);
  expect(reports.map(({ done }) => done)).toEqual([1000, 2000, 2500]);
  expect(reports[0]).toEqual({ stage: 'store', done: 1000, total: 2500 });
  expect(turns).toBeGreaterThanOrEqual(2);
});

it('logs a line every two seconds, and none for a short apply', () => {
  let now = 0;
  const lines: object[] = [];
  const report = createProgressLog({ info: (details) => lines.push(details) }, { monotonicMs: () => now });
  for (const at of [0, 1000, 1999, 2000, 2500, 3999, 4100, 9000]) {
    now = at;
    report({ stage: 'store', done: at, total: 9000 });
  }
  expect(lines).toEqual([2000, 4100, 9000].map((done) => ({ stage: 'store', done, total: 9000 })));
});
