import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DemoCredentials } from '../console/config-routes.ts';
import { createOpenFiles } from '../kernel/open-files.ts';
import { PACKAGE_DIRECTORY } from '../kernel/package-files.ts';
import type { RateCounter } from '../kernel/rate-counter.ts';
import { type Clock, SECOND_MS } from '../kernel/time/clock.ts';
import { openFolderWatch } from '../observability/dashboards/files/folder-watch.ts';
import { settleInterruptedRestore } from '../operations/backup/interrupted-restore.ts';
import type { SharedEngine } from '../platform/engine/backends/shared-backend.ts';
import { openEngine } from '../platform/engine/open.ts';
import { type AttemptLimit, createAttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { countLocallyOnFailure, prefixIds } from '../platform/http/limits/rate-counter.ts';
import type { AccessLog } from '../platform/http/monitoring/access-log.ts';
import { createMetrics } from '../platform/http/monitoring/metrics.ts';
import { openState } from '../platform/state/open.ts';
import { openRateCounter } from '../platform/state/rate-counter.ts';
import { getKeyFilePath } from '../platform/state/secrets/key-file.ts';
import type { State } from '../platform/state/state.ts';
import { type Certificate, openCertificate } from '../platform/tls/certificate.ts';
import { BACKGROUND_JOBS, listJobs } from './background-jobs.ts';
import { createDomains, type Domains } from './domains.ts';
import { openOwnTelemetry } from './own-telemetry.ts';
import { createRunningServices, type RunningServices } from './running-services.ts';
import type { Config } from './settings/config.ts';
import type { Shutdown } from './shutdown.ts';

export interface Options {
  config: Config;
  clock: Clock;
  /** Instead of the clock of the store, for tests. */
  storeClock?: Clock;
  log: Logger;
  access: AccessLog;
  /** Public credentials that the sign-in page offers. */
  demo?: DemoCredentials | undefined;
  /** Ports for OpenTelemetry data without which the server starts if another program uses them. */
  optionalPorts?: readonly number[] | undefined;
  /** The folder of the built console; next to the program by default. */
  consoleDirectory?: string;
  /** Runs after the stores are open and before the server listens: fleet files, demo data. */
  prepare?(domains: Domains): Promise<void>;
}

/** A statement of a request or of background work. Clients and shutdown must not wait for a store that hangs. */
const STORE_TIMEOUT_MS = 10 * SECOND_MS;

/** The time that Kubernetes grants by default is 30 seconds. */
export const MAX_STOP_MS = 29 * SECOND_MS;

/**
 * The time that is kept for each step of a shutdown; a step may use what the steps before it left. Requests to a store
 * that hangs fail within the first step.
 */
export const STOP_MS = {
  requests: 14 * SECOND_MS,
  // Stopped together with the requests.
  services: 0,
  certificate: 0,
  counter: 0,
  folder: 0.5 * SECOND_MS,
  domains: 3 * SECOND_MS,
  state: 2.5 * SECOND_MS,
  telemetry: 3.5 * SECOND_MS,
  engine: 5.5 * SECOND_MS,
};

/** The built web app. */
export const CONSOLE_DIRECTORY = join(PACKAGE_DIRECTORY, 'dist/console');

export type Stores = Awaited<ReturnType<typeof openStores>>;

/** What several processes of a server share. */
interface Shared {
  /** The embedded engine of another process. */
  engine?: SharedEngine;
  onEngineRunning?(isRunning: boolean): void;
  /** Counts requests and failed attempts; on PostgreSQL, the database does. */
  rateCounter?: RateCounter;
}

/** The stores, what observes them, and the certificate of the ports. */
export async function openStores({ config, clock, storeClock, log }: Options, shutdown: Shutdown, shared: Shared = {}) {
  const certificate = await openTls(config, log, shutdown);
  // A worker does not open the embedded engine.
  if (!shared.engine) await settleInterruptedRestore(config, log);
  const metrics = createMetrics();
  const observer = {
    ...metrics.engine,
    running(isRunning: boolean) {
      metrics.engine.running(isRunning);
      shared.onEngineRunning?.(isRunning);
    },
  };
  // The engine process starts with the first query.
  const engine = openEngine({
    ...config,
    clock,
    log,
    observer,
    shared: shared.engine,
    retentionDays: shared.engine ? undefined : config.telemetryRetentionDays,
  });
  shutdown.add('the engine', STOP_MS.engine, () => engine.close());
  const telemetry = openOwnTelemetry({ config, engine, clock, log, metrics });
  shutdown.add('telemetry', STOP_MS.telemetry, telemetry.close);
  const keyFile = getKeyFilePath(config.dataDirectory, config.secretsKeyFile);
  const hasKeyFile = existsSync(keyFile);
  const state = await openState({
    ...config,
    clock,
    storeClock,
    observer: metrics.store,
    queryTimeoutMs: STORE_TIMEOUT_MS,
  });
  shutdown.add('the state store', STOP_MS.state, () => state.close());
  if (!hasKeyFile)
    log.info({ keyFile }, 'created the key file of the secrets in the store: keep a copy of it away from the backups');
  const rateCounter = state.kind === 'postgres' ? openCounter(state, log, shutdown) : shared.rateCounter;
  const attempts = createAttempts(clock, rateCounter);
  const openFiles = createOpenFiles({ clock, log });
  return { certificate, metrics, engine, telemetry, state, rateCounter, attempts, openFiles };
}

async function openTls(
  { tlsCertFile: certFile, tlsKeyFile: keyFile }: Config,
  log: Logger,
  shutdown: Shutdown,
): Promise<Certificate | undefined> {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const certificate = await openCertificate({ certFile, keyFile, log });
  shutdown.add('the certificate', STOP_MS.certificate, async () => certificate.close());
  return certificate;
}

/**
 * One limit for the API and the endpoints of services: an address has one allowance, wherever it guesses. Services can be
 * queried while the store is not available.
 */
const createAttempts = (clock: Clock, rateCounter: RateCounter | undefined): AttemptLimit =>
  createAttemptLimit(clock, countLocallyOnFailure(prefixIds(rateCounter, 'attempts'), clock));

function openCounter({ db }: State, log: Logger, shutdown: Shutdown): RateCounter {
  const counter = openRateCounter({ db, log });
  shutdown.add('the rate counter', STOP_MS.counter, () => counter.close());
  return counter;
}

/** `engineOwnerNode`: the process that owns the engine, if it is not this one. */
export function openDomains(
  { config, clock, log }: Options,
  { state, engine, metrics, rateCounter }: Stores,
  shutdown: Shutdown,
  engineOwnerNode?: string,
): Domains {
  const observers = { observeRating: metrics.rating, observeIngest: metrics.ingest };
  const domains = createDomains({ state, engine, clock, log, config, ...observers, engineOwnerNode, rateCounter });
  shutdown.add('background work', STOP_MS.domains, () => domains.close());
  return domains;
}

/** What one process of a server does, however many serve requests: everything that no request waits for. */
export async function openBackground(options: Options, stores: Stores, shutdown: Shutdown) {
  const { config, prepare } = options;
  const domains = openDomains(options, stores, shutdown);
  stores.metrics.usage(domains.usageWarnings.counts);
  const services = openServices(options, stores, domains, shutdown);
  await domains.engineOwner.acquire(config.port === 0 ? config.host : `${config.host}:${config.port}`);
  await releaseDashboards(options, domains);
  await prepare?.(domains);
  await domains.statementLog.recover();
  await followDashboardsFolder(options, domains, shutdown);
  const { budgets, evaluator, hourlyCounts, keptResponses, notifications, rater, retention, telemetryMetering } =
    domains;
  return {
    domains,
    services,
    async start(): Promise<void> {
      const jobs = listJobs(BACKGROUND_JOBS, {
        rating: rater,
        notifications,
        alerts: evaluator,
        budgets,
        'kept responses': keptResponses,
        'counted activities': hourlyCounts,
        retention,
        'telemetry usage': telemetryMetering,
        services,
      });
      for (const job of jobs) await job.start();
    },
    /** No new pass starts; a running one ends while requests are completed. */
    async close(): Promise<void> {
      await Promise.all(
        [evaluator, budgets, notifications, rater, retention, telemetryMetering, services].map((part) => part.close()),
      );
    },
  };
}

function openServices(
  options: Options,
  { state, attempts, openFiles, certificate }: Stores,
  domains: Domains,
  shutdown: Shutdown,
): RunningServices {
  const isDemo = options.demo !== undefined;
  const services = createRunningServices({ ...options, state, attempts, openFiles, certificate, domains, isDemo });
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
  { provisioning, applyAlertFiles }: Domains,
  shutdown: Shutdown,
): Promise<void> {
  const directory = config.dashboardsDirectory;
  if (directory === undefined) return;
  const folder = await openFolderWatch({ directory, provisioning, applyAlertFiles, log });
  shutdown.add('the dashboards folder', STOP_MS.folder, () => folder.close());
}
