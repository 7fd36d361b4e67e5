import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { DemoCredentials } from './console/config-routes.ts';
import { openFolderWatch } from './dashboards/folder-watch.ts';
import { createDomains, type Domains } from './domains.ts';
import { openEngine } from './engine/open.ts';
import type { AccessLog } from './http/access-log.ts';
import { createMetrics } from './http/metrics.ts';
import type { App } from './http/validation.ts';
import type { Clock } from './kernel/clock.ts';
import { mountApps } from './mount.ts';
import { toStoreError } from './state/failures.ts';
import { openState } from './state/open.ts';
import type { StoreObserver } from './state/state.ts';
import { openSelfTelemetry } from './telemetry/self-telemetry.ts';

export interface Server {
  url: string;
  dashboardUrl: string;
  domains: Domains;
  /** The OpenAPI document of everything served on the main port. */
  document(): object;
  /** Stops accepting connections, finishes requests in flight, stores pending updates and closes the stores. */
  close(): Promise<void>;
}

interface Options {
  config: Config;
  clock: Clock;
  log: Logger;
  access: AccessLog;
  /** Public credentials that the sign-in page offers. */
  demo?: DemoCredentials | undefined;
  /** The folder of the built console; next to the program by default. */
  consoleDirectory?: string;
  /** Runs after the stores are open and before the server listens: fleet files, demo data. */
  prepare?(domains: Domains): Promise<void>;
}

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** The same folder from `src/` and from `dist/`. */
const CONSOLE_DIRECTORY = fileURLToPath(new URL('../dist/console', import.meta.url));

/**
 * Opens the stores, creates the domains, mounts the routes and listens. `close` undoes these steps in reverse order; so
 * does a step that fails.
 */
export async function startServer(options: Options): Promise<Server> {
  const { config, prepare } = options;
  const shutdown = createShutdown();
  try {
    const opened = await open(options, shutdown);
    const domains = build(options, opened, shutdown);
    await domains.engineOwner.acquire(`${config.host}:${config.port}`);
    await releaseDashboards(options, domains);
    await prepare?.(domains);
    await followDashboardsFolder(options, domains, shutdown);
    const apps = await mount(options, opened, domains, shutdown);
    const url = await listen(apps.main, config, config.port);
    const dashboardUrl = apps.dashboards ? await listen(apps.dashboards, config, config.dashboardPort ?? 0) : url;
    domains.rater.start();
    domains.budgets.start();
    return { url, dashboardUrl, domains, document: () => apps.main.swagger(), close: shutdown.run };
  } catch (error) {
    // The reason is reported even if closing fails too.
    await shutdown.run().catch(() => {});
    throw error;
  }
}

type Opened = Awaited<ReturnType<typeof open>>;

async function open({ config, clock, log }: Options, shutdown: Shutdown) {
  const metrics = createMetrics();
  // The engine process starts with the first query.
  const engine = openEngine({ ...config, clock, log, observer: metrics.engine });
  shutdown.add(() => engine.close());
  const telemetry = config.telemetry
    ? openSelfTelemetry({ engine, clock, log, version: VERSION, operatorId: config.telemetryOrganization ?? '' })
    : undefined;
  if (telemetry) {
    metrics.telemetry(telemetry.counts);
    shutdown.add(() => telemetry.close());
  }
  const state = await openState({ ...config, clock, observer: combineObservers(metrics.store, telemetry?.store) });
  shutdown.add(() => state.close());
  return { metrics, engine, telemetry, state };
}

function build({ config, clock, log }: Options, { state, engine, metrics }: Opened, shutdown: Shutdown): Domains {
  const domains = createDomains({ state, engine, clock, log, config, observeRating: metrics.rating });
  shutdown.add(() => domains.close());
  metrics.usage(domains.usageWarnings.counts);
  return domains;
}

/** Without a dashboards folder, dashboards that were provisioned from one can be edited over the API again. */
async function releaseDashboards({ config, log }: Options, { provisioning }: Domains): Promise<void> {
  if (config.dashboardsDirectory !== undefined) return;
  const dashboards = await provisioning.release();
  if (dashboards > 0) log.info({ dashboards }, 'no dashboards folder is set: its dashboards can be edited again');
}

/** Applies the dashboards folder now and after every change. */
async function followDashboardsFolder(
  { config, log }: Options,
  { provisioning }: Domains,
  shutdown: Shutdown,
): Promise<void> {
  const directory = config.dashboardsDirectory;
  if (directory === undefined) return;
  const folder = await openFolderWatch({ directory, provisioning, log });
  shutdown.add(() => folder.close());
}

async function mount(options: Options, { state, metrics, telemetry }: Opened, domains: Domains, shutdown: Shutdown) {
  const { config, clock, log, access, demo, consoleDirectory = CONSOLE_DIRECTORY } = options;
  let isDraining = false;
  const apps = await mountApps({
    config,
    clock,
    log,
    access,
    metrics,
    state,
    domains,
    demo,
    consoleDirectory,
    version: VERSION,
    observe: telemetry?.request,
    explain: toStoreError,
    isDraining: () => isDraining,
  });
  shutdown.add(async () => {
    isDraining = true;
    await Promise.all([apps.main.close(), apps.dashboards?.close()]);
  });
  return apps;
}

async function listen(app: App, { host, basePath }: Config, port: number): Promise<string> {
  await app.listen({ host, port });
  const { address, port: actual } = app.server.address() as AddressInfo;
  const reachable = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${actual}${basePath}`;
}

type Shutdown = ReturnType<typeof createShutdown>;

/** Steps run once, last added first. A step that fails does not stop the others; the first error is thrown. */
function createShutdown() {
  const steps: (() => unknown)[] = [];
  let finished: Promise<void> | undefined;

  async function runSteps(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of steps.splice(0)) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    add: (step: () => unknown): void => void steps.unshift(step),
    /** Every call waits for the same run. */
    run: (): Promise<void> => {
      finished ??= runSteps();
      return finished;
    },
  };
}

function combineObservers(first: StoreObserver, second: StoreObserver | undefined): StoreObserver {
  if (!second) return first;
  return {
    query(seconds) {
      first.query(seconds);
      second.query(seconds);
    },
    commit(seconds, changes) {
      first.commit(seconds, changes);
      second.commit(seconds, changes);
    },
  };
}
