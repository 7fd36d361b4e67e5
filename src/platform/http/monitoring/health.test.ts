import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createApp } from '../app.ts';
import type { App } from '../requests/validation.ts';
import { healthRoutes } from './health.ts';
import { createMetrics } from './metrics.ts';

describe('/readyz', () => {
  let app: App | undefined;
  let now = 0;
  let isDraining = false;
  let trouble: string | undefined;
  let checks = 0;

  async function open(): Promise<() => Promise<[number, string | undefined]>> {
    const metrics = createMetrics();
    app = createApp({ access() {}, log: pino({ level: 'silent' }), metrics, explain: (error) => error });
    const checkReady = async () => {
      checks++;
      if (trouble) throw new Error(trouble);
    };
    healthRoutes({
      renderMetrics: () => metrics.registry.metrics(),
      async authorizeMetrics() {},
      clock: { now: () => now, monotonicMs: () => now },
      isDraining: () => isDraining,
      checkReady,
    })(app);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return async () => {
      const response = await fetch(`${url}/readyz`);
      return [response.status, ((await response.json()) as { message?: string }).message];
    };
  }

  afterEach(async () => {
    await app?.close();
  });

  it('reports the reason, checks the store at most once a second, and immediately reports that the server is stopping', async () => {
    const ready = await open();
    now = 10_000;
    expect(await ready()).toEqual([200, undefined]);
    trouble = 'the disk is full';
    now = 10_999;
    expect([await ready(), checks]).toEqual([[200, undefined], 1]);
    now = 11_000;
    expect([await ready(), checks]).toEqual([[503, 'the disk is full'], 2]);
    trouble = undefined;
    now = 12_000;
    expect([await ready(), checks]).toEqual([[200, undefined], 3]);
    isDraining = true;
    expect([await ready(), checks]).toEqual([[503, 'The server is stopping'], 3]);
  });
});
