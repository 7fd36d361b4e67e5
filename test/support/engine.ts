import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import type { Engine } from '../../src/platform/engine/engine.ts';
import type { EngineObserver } from '../../src/platform/engine/observer.ts';
import { openEngine } from '../../src/platform/engine/open.ts';

/** An embedded engine with its own process and directory, shared by the tests of the surrounding `describe`. */
export function useEngine({ observer }: { observer?: EngineObserver } = {}): Engine {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
  let engine: Engine | undefined;
  beforeAll(async () => {
    engine = openEngine({
      dataDirectory: directory,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      ...(observer && { observer }),
    });
    await engine.start();
  });
  afterAll(async () => {
    await engine?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return new Proxy({} as Engine, { get: (_, name) => Reflect.get(engine ?? {}, name) });
}

/** Inserts rows for a server that has not started its engine yet: only one process can use an engine directory. */
export async function fillEngine(dataDirectory: string, rows: Record<string, object[]>): Promise<void> {
  const engine = openEngine({ dataDirectory, clock: systemClock, log: pino({ level: 'silent' }) });
  try {
    for (const [table, list] of Object.entries(rows)) await engine.insert(table, list);
  } finally {
    await engine.close();
  }
}
