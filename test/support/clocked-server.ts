import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { parseFleetFile } from '../../src/operations/fleet/file.ts';
import { type Server, startServer } from '../../src/server/server.ts';
import { loadConfig } from '../../src/server/settings/config.ts';
import type { SettingName } from '../../src/server/settings/settings.ts';
import { type ApiResponse, type Call, createClient } from './client.ts';
import { closeIdleConnections } from './connections.ts';
import { acme, fleet } from './fleet.ts';
import { createDatabase, MIGRATED } from './postgres.ts';
import type { StoreName } from './server.ts';
import { createWrongClock } from './test-clock.ts';

/** A server in the test process with a clock that the test controls. */
interface ClockedServer {
  url: string;
  directory: string;
  databaseUrl: string | undefined;
  /** Setting it forward lets time pass. */
  now: number;
  /** Sets the clock forward or back; no time passes. */
  step(ms: number): void;
  call(call: Call): Promise<ApiResponse>;
  /** Stops the server, which writes buffered changes, and starts it again on the same store. */
  restart(): Promise<void>;
  /** Stores and rates the usage of services up to now. */
  flushUsage(): Promise<void>;
  /** Makes, verifies and deletes the backups that are due. */
  settleBackups(): Promise<void>;
  /** Records in the audit log what was counted in hours that have ended. */
  settleCounts(): Promise<void>;
  /** Evaluates the alerts that are due, and delivers their notifications. */
  evaluateAlerts(): Promise<void>;
}

export interface ClockedOptions {
  settings?: Partial<Record<SettingName, string>>;
  consoleDirectory?: string;
  demo?: { keyId: string; keySecret: string };
  /** One server for all tests of the `describe`. */
  isShared?: boolean;
  /** The time of the first start. */
  startsAt?: string;
  /** Fills an empty store before the first start, instead of the test fleet. */
  fill?(place: StorePlace): Promise<void>;
}

/** Where a server has its store. */
export interface StorePlace {
  dataDirectory: string;
  databaseUrl: string | undefined;
}

/** A new server for each test of the surrounding `describe`; use it inside tests and hooks only. */
export function useClockedServer(
  store: StoreName,
  { settings = {}, isShared = false, startsAt = '2026-11-02T10:00:30Z', fill, ...options }: ClockedOptions = {},
): ClockedServer {
  const [before, after] = isShared ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let running: Server;
  let [lastNow, elapsedMs] = [0, 0];
  const monotonicMs = () => {
    elapsedMs += Math.max(0, server.now - lastNow);
    lastNow = server.now;
    return elapsedMs;
  };
  let remove = async () => {};
  const server: ClockedServer = {
    url: '',
    directory: '',
    databaseUrl: undefined,
    now: 0,
    step(ms) {
      server.now += ms;
      lastNow += ms;
    },
    call: createClient(() => running),
    restart: async () => {},
    settleCounts: () => running.domains.hourlyCounts.settle(),
    settleBackups: () => running.reconciliation.settleBackups(),
    async flushUsage() {
      await running.reconciliation.flushUsage();
      await running.domains.rating.rateChanged(acme.id);
    },
    async evaluateAlerts() {
      await running.domains.evaluator.trigger();
      await running.domains.notifications.trigger();
    },
  };
  before(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const template = fill ? {} : { template: MIGRATED };
    const database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), template) : undefined;
    Object.assign(server, { directory, databaseUrl: database?.url });
    const flags = {
      port: '0',
      dataDirectory: join(directory, 'data'),
      secretsKeyFile: inject('secretsKeyFile'),
      ...(database && { databaseUrl: database.url }),
      ...settings,
    };
    const loaded = loadConfig({ flags, environment: {}, readFile: () => '' });
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
    server.now = Date.parse(startsAt);
    // Not 0, which caches take for no time.
    [lastNow, elapsedMs] = [server.now, 1];
    const clock = { now: () => server.now, monotonicMs };
    const start = async () => {
      running = await startServer({
        config: loaded.config,
        clock: createWrongClock(clock),
        storeClock: clock,
        log: pino({ level: 'silent' }),
        access() {},
        consoleDirectory: join(directory, 'no-console'),
        ...options,
        async prepare(domains) {
          if (fill) return;
          await domains.fleet.apply(parseFleetFile(JSON.stringify(fleet)), { type: 'system', id: 'test', details: '' });
        },
      });
      server.url = running.url;
      server.call = createClient(() => running);
    };
    await fill?.({ dataDirectory: flags.dataDirectory, databaseUrl: database?.url });
    await start();
    const close = () => {
      closeIdleConnections();
      return running.close();
    };
    server.restart = async () => {
      await close();
      await start();
    };
    remove = async () => {
      await close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  after(() => remove());
  return server;
}
