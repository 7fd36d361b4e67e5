import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { auditRoutes } from './audit/routes.ts';
import { budgetRoutes } from './billing/budgets/routes.ts';
import { forecastRoutes } from './billing/forecast/routes.ts';
import { meteringRoutes } from './billing/metering/routes.ts';
import { reportRoutes } from './billing/reports/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import type { Config } from './config.ts';
import { createTokenAuthentication } from './dashboards/authentication.ts';
import { dashboardRoutes } from './dashboards/routes.ts';
import { createDomains, type Domains } from './domains.ts';
import { openEngine } from './engine/open.ts';
import type { AccessLog } from './http/access-log.ts';
import { createApp } from './http/app.ts';
import { createClientAddress } from './http/client-address.ts';
import { type Authenticate, FAILED_ATTEMPTS, guardRoutes } from './http/guard.ts';
import { healthRoutes } from './http/health.ts';
import { dashboards as dashboardInterface, management } from './http/interfaces.ts';
import { createMetrics } from './http/metrics.ts';
import { describeRoutes, serveDocument } from './http/openapi.ts';
import { createFixedWindow } from './http/rate-limit.ts';
import type { App, Routes } from './http/validation.ts';
import type { Clock } from './kernel/clock.ts';
import { createKeyAuthentication } from './keys/authentication.ts';
import { keyRoutes } from './keys/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { serviceRoutes } from './services/routes.ts';
import { storeFailure } from './state/failures.ts';
import { openState } from './state/open.ts';

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
  /** Runs after the store is open and before anybody can call: fleet files, demo data. */
  prepare?(domains: Domains): Promise<void>;
}

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Opens the stores, builds the domains, mounts the routes, listens. What was opened is closed in reverse order. */
export async function startServer({ config, clock, log, access, prepare }: Options): Promise<Server> {
  const metrics = createMetrics();
  // Nothing runs yet: an engine is started by the first that needs one.
  const engine = openEngine({ ...config, clock, log, observer: metrics.engine });
  const state = await openState({ ...config, clock, observer: metrics.store });
  let isDraining = false;
  const apps: App[] = [];
  try {
    const domains = createDomains({ state, engine, clock, log, config });
    await prepare?.(domains);

    const clientAddress = createClientAddress(config.trustedProxies);
    const failedAttempts = createFixedWindow(FAILED_ATTEMPTS, clock);
    const guardOf = (authenticate: Authenticate, challenge: string) => (scope: App) =>
      guardRoutes(scope, { authenticate, challenge, rate: config.rateLimit, failedAttempts, clock, clientAddress });

    const managementInterface: Part = {
      documentPaths: ['/v1'],
      guard: guardOf(
        createKeyAuthentication({ db: state.db, clock, lastUsed: domains.lastUsed }),
        'Basic realm="pilothouse", charset="UTF-8"',
      ),
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
      ],
    };
    const dashboards: Part = {
      documentPaths: [],
      guard: guardOf(createTokenAuthentication({ db: state.db, clock }), 'Bearer realm="pilothouse"'),
      bodyLimitBytes: dashboardInterface.bodyLimitBytes,
      routes: [dashboardRoutes(domains)],
    };

    const open = async (parts: Part[]) => {
      const app = createApp({ log, access, metrics, explain: storeFailure });
      apps.push(app);
      await describeRoutes(app, VERSION);
      serveDocument(app, ['/openapi.json', ...parts.flatMap(({ documentPaths }) => documentPaths)]);
      healthRoutes({ metrics, clock, isDraining: () => isDraining, checkReady: () => state.check() })(app);
      for (const part of parts) app.register(async (scope) => mount(scope, part));
      await app.ready();
      return app;
    };

    const hasTwoPorts = config.dashboardPort !== undefined;
    const main = await open(hasTwoPorts ? [managementInterface] : [managementInterface, dashboards]);
    const second = hasTwoPorts ? await open([dashboards]) : main;
    const url = await listen(main, config.host, config.port);
    const dashboardUrl = hasTwoPorts ? await listen(second, config.host, config.dashboardPort ?? 0) : url;
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
          await domains.budgets.close();
          await domains.rater.close();
          await domains.lastUsed.flush();
        } finally {
          await engine.close();
          await state.close();
        }
      },
    };
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    await engine.close();
    await state.close();
    throw error;
  }
}

/** One of the two interfaces: who may come in, and what there is. */
interface Part {
  documentPaths: string[];
  guard(scope: App): void;
  bodyLimitBytes: number;
  routes: Routes[];
}

function mount(scope: App, { guard, bodyLimitBytes, routes }: Part): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= bodyLimitBytes;
  });
  guard(scope);
  for (const domain of routes) scope.register(async (own) => domain(own as App));
}

async function listen(app: App, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const { address, port: actual } = app.server.address() as AddressInfo;
  const shown = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${actual}`;
}
