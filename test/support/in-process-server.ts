import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { inject } from 'vitest';
import { type Clock, systemClock } from '../../src/kernel/time/clock.ts';
import { parseFleetFile } from '../../src/operations/fleet/file.ts';
import type { Engine } from '../../src/platform/engine/engine.ts';
import { openEngine } from '../../src/platform/engine/open.ts';
import { startServer } from '../../src/server/server.ts';
import { loadConfig } from '../../src/server/settings/config.ts';
import type { SettingName } from '../../src/server/settings/settings.ts';
import { closeIdleConnections } from './connections.ts';
import { fleet } from './fleet.ts';

const log = pino({ level: 'silent' });

/** A server in the test process, so that a test can access its engine as well as its HTTP interface. */
export async function openInProcessServer(
  flags: Partial<Record<SettingName, string>> = {},
  { clock = systemClock }: { clock?: Clock } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const dataDirectory = join(directory, 'data');
  const loaded = loadConfig({
    flags: { port: '0', dataDirectory, secretsKeyFile: inject('secretsKeyFile'), rateLimit: 'off', ...flags },
    environment: {},
    readFile: () => '',
  });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const server = await startServer({
    config: loaded.config,
    clock,
    log,
    access: () => {},
    async prepare({ fleet: fleets }) {
      await fleets.apply(parseFleetFile(JSON.stringify(fleet)), { type: 'system', id: 'test', details: 'test' });
    },
  });
  let isOpen = true;
  const close = async () => {
    if (isOpen) closeIdleConnections();
    if (isOpen) await server.close();
    isOpen = false;
  };
  return {
    url: server.url,
    dashboardUrl: server.dashboardUrl,
    otlpUrl: server.otlpUrl,
    otlpGrpcPort: server.otlpGrpcPort,
    engine: server.domains.engine,
    domains: server.domains,
    dataDirectory,
    close,
    /** The values of `/metrics`, by name and labels. */
    async metrics(): Promise<Map<string, number>> {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return new Map(
        [...text.matchAll(/^([a-z_]+(?:\{[^}]*\})?) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
      );
    },
    async remove() {
      await close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type InProcessServer = Awaited<ReturnType<typeof openInProcessServer>>;

/** Opens the engine on the files of a stopped server. */
export async function withEngine<T>(dataDirectory: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = openEngine({ dataDirectory, clock: systemClock, log });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}
