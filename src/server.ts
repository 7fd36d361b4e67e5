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
import { type Clock, SECOND_MS } from './kernel/clock.ts';
import { AppError } from './kernel/errors.ts';
import { mountApps } from './mount.ts';
import { createRunningServices, type RunningServices } from './running-services.ts';
import { toStoreError } from './state/failures.ts';
import { openState } from './state/open.ts';
import type { StoreObserver } from './state/state.ts';
import { openSelfTelemetry } from './telemetry/self-telemetry.ts';
import { VERSION } from './version.ts';

export interface Server {
  url: string;
  dashboardUrl: string;
  domains: Domains;
  reconciliation: RunningServices;
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

/** A statement of a request or of background work. Clients and shutdown must not wait for a store that hangs. */
const STORE_TIMEOUT_MS = 10 * SECOND_MS;

/** The time that Kubernetes grants by default is 30 seconds. */
const MAX_STOP_MS = 29 * SECOND_MS;

/**
 * The time that is kept for each step of a shutdown; a step may use what the steps before it left. Requests to a store
 * that hangs fail within the first step.
 */
const STOP_MS = {
  requests: 14 * SECOND_MS,
  // Stopped together with the requests.
  services: 0,
  folder: 0.5 * SECOND_MS,
  domains: 3 * SECOND_MS,
  state: 2.5 * SECOND_MS,
  telemetry: 3.5 * SECOND_MS,
  engine: 5.5 * SECOND_MS,
};

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
    const reconciliation = openServices(options, opened, domains, shutdown);
    await domains.engineOwner.acquire(config.port === 0 ? config.host : `${config.host}:${config.port}`);
    await releaseDashboards(options, domains);
    await prepare?.(domains);
    await followDashboardsFolder(options, domains, shutdown);
    const apps = await mount(options, opened, domains, reconciliation, shutdown);
    const url = await listen(apps.main, config, config.port);
    const dashboardUrl = apps.dashboards ? await listen(apps.dashboards, config, config.dashboardPort ?? 0) : url;
    domains.rater.start();
    domains.budgets.start();
    domains.keptResponses.start();
    await reconciliation.start();
    return { url, dashboardUrl, domains, reconciliation, document: () => apps.main.swagger(), close: shutdown.run };
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
  shutdown.add('the engine', STOP_MS.engine, () => engine.close());
  const telemetry = config.telemetry
    ? openSelfTelemetry({ engine, clock, log, version: VERSION, operatorId: config.telemetryOrganization ?? '' })
    : undefined;
  if (telemetry) {
    metrics.telemetry(telemetry.counts);
    shutdown.add('telemetry', STOP_MS.telemetry, () => telemetry.close());
  }
  const state = await openState({
    ...config,
    clock,
    observer: combineObservers(metrics.store, telemetry?.store),
    queryTimeoutMs: STORE_TIMEOUT_MS,
  });
  shutdown.add('the state store', STOP_MS.state, () => state.close());
  return { metrics, engine, telemetry, state };
}

function build({ config, clock, log }: Options, { state, engine, metrics }: Opened, shutdown: Shutdown): Domains {
  const domains = createDomains({ state, engine, clock, log, config, observeRating: metrics.rating });
  shutdown.add('background work', STOP_MS.domains, () => domains.close());
  metrics.usage(domains.usageWarnings.counts);
  return domains;
}

function openServices(options: Options, { state }: Opened, domains: Domains, shutdown: Shutdown): RunningServices {
  const services = createRunningServices({ ...options, state, domains, isDemo: options.demo !== undefined });
  // If the server fails to start, there are no requests to stop.
  shutdown.add('services', STOP_MS.services, services.close);
  return services;
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
  shutdown.add('the dashboards folder', STOP_MS.folder, () => folder.close());
}

async function mount(
  options: Options,
  { state, metrics, telemetry }: Opened,
  domains: Domains,
  reconciliation: RunningServices,
  shutdown: Shutdown,
) {
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
    reconciliation,
    demo,
    consoleDirectory,
    version: VERSION,
    observe: telemetry?.request,
    explain: toStoreError,
    isDraining: () => isDraining,
  });
  shutdown.add('requests', STOP_MS.requests, async () => {
    isDraining = true;
    // No new pass of background work starts; a running one ends while requests are completed.
    const background = [domains.budgets.close(), domains.rater.close(), reconciliation.close()];
    await Promise.all([apps.main.close(), apps.dashboards?.close(), ...background]);
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

/**
 * Steps run once, last added first. A step that fails or exceeds its time does not stop the others; the first error is
 * thrown.
 */
function createShutdown() {
  const steps: { name: string; reservedMs: number; run(): unknown }[] = [];
  let finished: Promise<void> | undefined;

  async function runSteps(): Promise<void> {
    const errors: unknown[] = [];
    const endsAt = performance.now() + MAX_STOP_MS;
    for (let step = steps.shift(); step; step = steps.shift()) {
      const reservedMs = steps.reduce((sum, later) => sum + later.reservedMs, 0);
      try {
        await withinTime(step, Math.max(step.reservedMs, endsAt - performance.now() - reservedMs));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    add: (name: string, reservedMs: number, run: () => unknown): void => void steps.unshift({ name, reservedMs, run }),
    /** Every call waits for the same run. */
    run: (): Promise<void> => {
      finished ??= runSteps();
      return finished;
    },
  };
}

async function withinTime({ name, run }: { name: string; run(): unknown }, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const text = `Stopping ${name} took longer than ${Math.round(limitMs / SECOND_MS)} s`;
    timer = setTimeout(() => reject(new AppError('unavailable', text)), limitMs);
  });
  try {
    await Promise.race([run(), timeout]);
  } finally {
    clearTimeout(timer);
  }
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
