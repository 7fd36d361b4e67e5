import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, inject } from 'vitest';
import { openEngine } from '../../src/platform/engine/open.ts';
import { openState } from '../../src/platform/state/open.ts';
import type { State } from '../../src/platform/state/state.ts';
import { createDomains, type Domains } from '../../src/server/domains.ts';
import { createDatabase } from './postgres.ts';
import type { StoreName } from './server.ts';
import { createTestClock, createWrongClock, type TestClock } from './test-clock.ts';

export const actor = { type: 'system' as const, id: 'test', details: 'test' };

/** The domains on a real store, without HTTP and background loops, with a clock that the test sets. */
interface Billing {
  state: State;
  domains: Domains;
  clock: TestClock;
  /** The log lines. */
  log: string[];
  /** New domains on the same store, as in another process. */
  restart(options?: { webhookAllowPrivate?: boolean }): Domains;
}

export function useBilling(store: StoreName): Billing {
  let current: Billing | undefined;
  let close = async () => {};
  beforeEach(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-billing-'));
    const database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
    const clock = createTestClock('2026-10-20T12:00:00Z');
    const lines: string[] = [];
    const write = (...parts: unknown[]) => void lines.push(JSON.stringify(parts));
    const log = { debug: write, info: write, warn: write };
    const state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      secretsKeyFile: inject('secretsKeyFile'),
      clock: createWrongClock(clock),
      storeClock: clock,
    });
    const engine = openEngine({ dataDirectory: directory, clock, log });
    const restart = ({ webhookAllowPrivate = true } = {}) =>
      createDomains({
        state,
        engine,
        clock: createWrongClock(clock),
        log,
        config: { dataDirectory: directory, maxKeys: 100, lockAfterDays: 14, webhookAllowPrivate },
      });
    current = { state, domains: restart(), clock, log: lines, restart };
    close = async () => {
      await engine.close();
      await state.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterEach(() => close());
  return new Proxy({} as Billing, { get: (_, name) => Reflect.get(current ?? {}, name) });
}
