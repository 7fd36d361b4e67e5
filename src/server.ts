import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { auditRoutes } from './audit/routes.ts';
import { budgetRoutes } from './billing/budgets/routes.ts';
import { forecastRoutes } from './billing/forecast/routes.ts';
import { meteringRoutes } from './billing/metering/routes.ts';
import { reportRoutes } from './billing/reports/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import { chartRoutes } from './charts/routes.ts';
import type { Config } from './config.ts';
import { createSessionAuthentication, needsDashboardRole, needsKeySession } from './console/authentication.ts';
import { configRoutes, type DemoCredentials } from './console/config-routes.ts';
import { findPageFiles } from './console/page-files.ts';
import { createPage, pageRoutes } from './console/page-routes.ts';
import { sessionRoutes } from './console/session-routes.ts';
import { type FolderWatch, openFolderWatch } from './dashboards/folder-watch.ts';
import { dashboardReadRoutes } from './dashboards/read-routes.ts';
import { dashboardRoutes } from './dashboards/routes.ts';
import { versionRoutes } from './dashboards/version-routes.ts';
import { createDomains, type Domains } from './domains.ts';
import { openEngine } from './engine/open.ts';
import type { AccessLog } from './http/access-log.ts';
import { createApp } from './http/app.ts';
import { createClientAddress } from './http/client-address.ts';
import { FAILED_ATTEMPTS, type GuardOptions, guardRoutes, knowCallers, needsRole } from './http/guard.ts';
import { healthRoutes } from './http/health.ts';
import { consoleInterface, dashboards as dashboardInterface, management } from './http/interfaces.ts';
import { createMetrics } from './http/metrics.ts';
import { describeRoutes, serveDocument, serveReferenceAtRoot } from './http/openapi.ts';
import { createFixedWindow } from './http/rate-limit.ts';
import type { App, Routes } from './http/validation.ts';
import type { Clock } from './kernel/clock.ts';
import { createKeyAuthentication } from './keys/authentication.ts';
import { keyRoutes } from './keys/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { serviceRoutes } from './services/routes.ts';
import { sourceRoutes } from './sources/routes.ts';
import { storeFailure } from './state/failures.ts';
import { openState } from './state/open.ts';
import type { StoreObserver } from './state/state.ts';
import { openSelfTelemetry } from './telemetry/self.ts';
import { createTokenAuthentication, needsWriteToken } from './tokens/authentication.ts';
import { tokenRoutes } from './tokens/routes.ts';

export interface Server {
  url: string;
  dashboardUrl: string;
  domains: Domains;
  /** The OpenAPI document of everything served. */
  document(): object;
  /** Stops accepting, finishes what is in flight, flushes, closes the store. */
  close(): Promise<void>;
}

interface Options {
  config: Config;
  clock: Clock;
  log: Logger;
  access: AccessLog;
  /** What the console offers to sign in with; credentials that everybody may know. */
  demo?: DemoCredentials | undefined;
  /** Where the built console lies; beside the program when left out. */
  consoleDirectory?: string;
  /** Runs after the store is open and before anybody can call: fleet files, demo data. */
  prepare?(domains: Domains): Promise<void>;
}

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** From `src/` and from `dist/` alike. */
const CONSOLE_DIRECTORY = fileURLToPath(new URL('../dist/console', import.meta.url));

/** Opens the stores, builds the domains, mounts the routes, listens. What was opened is closed in reverse order. */
export async function startServer({
  config,
  clock,
  log,
  access,
  demo,
  consoleDirectory = CONSOLE_DIRECTORY,
  prepare,
}: Options): Promise<Server> {
  const { basePath } = config;
  const metrics = createMetrics();
  // Nothing runs yet: an engine is started by the first that needs one.
  const engine = openEngine({ ...config, clock, log, observer: metrics.engine });
  const telemetry = config.telemetry
    ? openSelfTelemetry({ engine, clock, log, version: VERSION, operatorId: config.telemetryOrganization ?? '' })
    : undefined;
  if (telemetry) metrics.telemetry(telemetry.counts);
  const state = await openState({ ...config, clock, observer: observedBy(metrics.store, telemetry?.store) });
  let isDraining = false;
  const apps: App[] = [];
  let folder: FolderWatch | undefined;
  try {
    const domains = createDomains({ state, engine, clock, log, config, observeRating: metrics.rating });
    const { dashboardsDirectory: directory } = config;
    const released = directory === undefined ? await domains.provisioning.release() : 0;
    if (released > 0)
      log.info({ dashboards: released }, 'there is no dashboards folder: what came from one is given back');
    await prepare?.(domains);
    if (directory !== undefined) folder = await openFolderWatch({ directory, provisioning: domains.provisioning, log });

    const clientAddress = createClientAddress(config.trustedProxies);
    const failedAttempts = createFixedWindow(FAILED_ATTEMPTS, clock);
    const limits = { rate: config.rateLimit, failedAttempts, clock, clientAddress };

    const managementInterface: Part = {
      documentPaths: ['/v1'],
      guard: {
        ...limits,
        authenticate: createKeyAuthentication({ db: state.db, clock, lastUsed: domains.lastUsed }),
        authenticateSession: createSessionAuthentication(domains.sessions),
        roleRefusal: needsKeySession(needsRole),
        challenge: 'Basic realm="pilothouse", charset="UTF-8"',
      },
      bodyLimitBytes: management.bodyLimitBytes,
      routes: [
        organizationRoutes(domains),
        serviceRoutes(domains),
        keyRoutes(domains),
        billingRoutes(domains),
        reportRoutes(domains),
        forecastRoutes(domains),
        budgetRoutes(domains),
        meteringRoutes(domains),
        auditRoutes(domains),
        tokenRoutes(domains),
      ],
    };
    const dashboards: Part = {
      documentPaths: [],
      guard: {
        ...limits,
        authenticate: createTokenAuthentication({ db: state.db, clock, lastUsed: domains.tokensLastUsed }),
        authenticateSession: createSessionAuthentication(domains.sessions),
        challenge: 'Bearer realm="pilothouse"',
        roleRefusal: needsDashboardRole(needsWriteToken),
      },
      bodyLimitBytes: dashboardInterface.bodyLimitBytes,
      routes: [
        dashboardReadRoutes(domains),
        dashboardRoutes(domains),
        versionRoutes(domains),
        sourceRoutes(domains),
        chartRoutes({ ...domains, clock }),
      ],
    };

    const hasTwoPorts = config.dashboardPort !== undefined;
    const files = findPageFiles(consoleDirectory, basePath);
    const page = files && createPage(files);
    const mountConsole = (app: App) => {
      const signIns = config.rateLimit && createFixedWindow(config.rateLimit, clock);
      app.register(async (scope) => {
        limitBodies(scope as App, consoleInterface.bodyLimitBytes);
        knowCallers(scope as App, clientAddress);
        sessionRoutes({ ...domains, basePath, hasDashboards: !hasTwoPorts, failedAttempts, signIns })(scope as App);
        configRoutes({ basePath, version: VERSION, demo })(scope as App);
      });
      if (files && page) pageRoutes(files, page)(app);
    };

    const open = async (parts: Part[], hasConsole: boolean) => {
      const app = createApp({
        log,
        access,
        metrics,
        observe: telemetry?.request,
        explain: storeFailure,
        basePath,
        page: hasConsole ? page : undefined,
      });
      apps.push(app);
      await describeRoutes(app, VERSION, basePath);
      serveDocument(app, ['/openapi.json', ...parts.flatMap(({ documentPaths }) => documentPaths)]);
      healthRoutes({ metrics, clock, isDraining: () => isDraining, checkReady: () => state.check() })(app);
      for (const part of parts) app.register(async (scope) => mount(scope, part));
      if (hasConsole) mountConsole(app);
      if (!hasConsole || !page) serveReferenceAtRoot(app, basePath);
      await app.ready();
      return app;
    };

    const main = await open(hasTwoPorts ? [managementInterface] : [managementInterface, dashboards], true);
    const second = hasTwoPorts ? await open([dashboards], false) : main;
    const url = (await listen(main, config.host, config.port)) + basePath;
    const dashboardUrl = hasTwoPorts ? (await listen(second, config.host, config.dashboardPort ?? 0)) + basePath : url;
    domains.rater.start();
    domains.budgets.start();

    return {
      url,
      dashboardUrl,
      domains,
      document: () => main.swagger(),
      async close() {
        isDraining = true;
        try {
          await Promise.all(apps.map((app) => app.close()));
          await folder?.close();
          await domains.budgets.close();
          await domains.rater.close();
          await Promise.all(
            [domains.lastUsed, domains.tokensLastUsed, domains.sessionsLastSeen].map((lastUsed) => lastUsed.close()),
          );
        } finally {
          await telemetry?.close();
          await engine.close();
          await state.close();
        }
      },
    };
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    await folder?.close();
    await telemetry?.close();
    await engine.close();
    await state.close();
    throw error;
  }
}

function observedBy(first: StoreObserver, second: StoreObserver | undefined): StoreObserver {
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

/** One of the two interfaces: who may come in, and what there is. */
interface Part {
  documentPaths: string[];
  guard: GuardOptions;
  bodyLimitBytes: number;
  routes: Routes[];
}

function mount(scope: App, { guard, bodyLimitBytes, routes }: Part): void {
  limitBodies(scope, bodyLimitBytes);
  guardRoutes(scope, guard);
  for (const domain of routes) scope.register(async (own) => domain(own as App));
}

function limitBodies(scope: App, bytes: number): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= bytes;
  });
}

async function listen(app: App, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const { address, port: actual } = app.server.address() as AddressInfo;
  const shown = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${actual}`;
}
