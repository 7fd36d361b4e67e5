import { stat } from 'node:fs';
import { expect, it } from 'vitest';
import { yieldToEventLoop } from './event-loop.ts';

it('handles what is due before it continues, also in the callback of an I/O event', async () => {
  const isHandled = await new Promise<boolean>((resolve) =>
    stat('.', async () => {
      let isOver = false;
      setTimeout(() => {
        isOver = true;
      }, 1);
      // The timer is due now.
      for (const end = performance.now() + 5; performance.now() < end; );
      await yieldToEventLoop();
      resolve(isOver);
    }),
  );
  expect(isHandled).toBe(true);
});
