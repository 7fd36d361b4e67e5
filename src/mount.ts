import { auditRoutes } from './audit/routes.ts';
import { autoscalingRoutes } from './autoscaling/routes.ts';
import { budgetRoutes } from './billing/budgets/routes.ts';
import { forecastRoutes } from './billing/forecast/routes.ts';
import { meteringRoutes } from './billing/metering/routes.ts';
import { prometheusRoutes } from './billing/prometheus/routes.ts';
import { usageWarningRoutes } from './billing/rating/routes.ts';
import type { UsageWarning } from './billing/rating/usage-warnings.ts';
import { reportRoutes } from './billing/reports/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import { chartRoutes } from './charts/routes.ts';
import type { Config } from './config.ts';
import { createSessionAuthentication, needsDashboardRole, needsKeySession } from './console/authentication.ts';
import { configRoutes, type DemoCredentials } from './console/config-routes.ts';
import { findPageFiles } from './console/page-files.ts';
import { createPage, pageRoutes } from './console/page-routes.ts';
import { createSessionCookies, readCookieSuffix, type SessionCookies } from './console/session-cookie.ts';
import { sessionRoutes } from './console/session-routes.ts';
import { clickStackDashboardRoutes } from './dashboards/clickstack-routes.ts';
import { dashboardReadRoutes } from './dashboards/read-routes.ts';
import { dashboardRoutes } from './dashboards/routes.ts';
import { versionRoutes } from './dashboards/version-routes.ts';
import type { Domains } from './domains.ts';
import { createLogReader } from './drivers.ts';
import { organizationChangeRoutes } from './fleet/routes.ts';
import { type AppOptions, createApp } from './http/app.ts';
import type { AttemptLimit } from './http/attempt-limit.ts';
import { createClientAddress } from './http/client-address.ts';
import { decorateRequests, formatMissingKeyRole, type GuardOptions, guardRoutes } from './http/guard.ts';
import { healthRoutes } from './http/health.ts';
import { supportIdempotency } from './http/idempotency.ts';
import { consoleInterface, dashboards as dashboardApi, management } from './http/interfaces.ts';
import { requireLoopbackHost } from './http/loopback-host.ts';
import type { Metrics } from './http/metrics.ts';
import { createMetricsAuthorization } from './http/metrics-token.ts';
import { describeRoutes, serveDocument, serveReferenceAtRoot } from './http/openapi.ts';
import { prefixIds } from './http/rate-counter.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createOrganizationReader } from './http/service-organization.ts';
import { unsupportedDashboardRoutes, unsupportedManagementRoutes } from './http/unsupported-routes.ts';
import type { App, Routes } from './http/validation.ts';
import type { Clock } from './kernel/clock.ts';
import type { RateCounter } from './kernel/rate-counter.ts';
import { createKeyAuthentication } from './keys/authentication.ts';
import { keyRoutes } from './keys/routes.ts';
import { whoamiRoutes } from './keys/whoami-routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { OrganizationPath } from './organizations/schema.ts';
import { logRoutes } from './reconciliation/log-routes.ts';
import { type IdleRouteOptions, idleRoutes } from './reconciliation/routes.ts';
import { roleRoutes } from './roles/routes.ts';
import { serviceLifecycleRoutes } from './services/lifecycle-routes.ts';
import { serviceRoutes } from './services/routes.ts';
import { ServicePath } from './services/schema.ts';
import { serviceSettingsRoutes } from './services/settings-routes.ts';
import { setupRoutes } from './setup/routes.ts';
import { clickStackSourceRoutes } from './sources/clickstack-routes.ts';
import { connectionRoutes } from './sources/connection-routes.ts';
import { sourceRoutes } from './sources/routes.ts';
import type { State } from './state/state.ts';
import { createTokenAuthentication, needsWriteToken } from './tokens/authentication.ts';
import { tokenRoutes } from './tokens/routes.ts';

interface Options extends Omit<AppOptions, 'page' | 'basePath'> {
  config: Pick<
    Config,
    'basePath' | 'dataDirectory' | 'dashboardPort' | 'rateLimit' | 'trustedProxies' | 'metricsToken' | 'defaultDriver'
  >;
  clock: Clock;
  metrics: Metrics;
  state: State;
  domains: Domains;
  /** Of the process that does the background work, which may be another one. */
  findIdleStatus: IdleRouteOptions['findIdleStatus'];
  listUsageWarnings(organizationId?: string): Promise<UsageWarning[]>;
  /** The process ids of workers that do not respond. */
  listHungWorkers(): Promise<number[]>;
  renderMetrics(): Promise<string>;
  /** Counts for several processes; without it, this process counts for itself. */
  rateCounter: RateCounter | undefined;
  /** Shared with the endpoints of services. */
  attempts: AttemptLimit;
  version: string;
  consoleDirectory: string;
  /** Public credentials that the sign-in page offers. */
  demo: DemoCredentials | undefined;
  isDraining(): boolean;
}

/** A group of routes with one way to authenticate and one body limit. */
interface MountedInterface {
  documentPaths: string[];
  guard: GuardOptions;
  bodyLimitBytes: number;
  routes: Routes[];
}

/** Creates one app, or two if the dashboard interface has a separate port (decision B1). */
export async function mountApps(options: Options): Promise<{ main: App; dashboards: App | undefined }> {
  const { config, clock, domains } = options;
  const cookies = createSessionCookies(await readCookieSuffix(options.state), config.basePath);
  const shared = {
    rate: config.rateLimit,
    attempts: options.attempts,
    clock,
    clientAddress: createClientAddress(config.trustedProxies),
    cookies,
    session: createSessionAuthentication(domains.sessions, cookies),
  };
  const managementInterface = createManagement(options, shared);
  const dashboardInterface = createDashboardInterface(options, shared);
  if (config.dashboardPort === undefined)
    return { main: await mountMain(options, shared, [managementInterface, dashboardInterface]), dashboards: undefined };
  const main = await mountMain(options, shared, [managementInterface]);
  const dashboards = await createMountedApp(options, shared, [dashboardInterface]);
  serveReferenceAtRoot(dashboards, config.basePath);
  await dashboards.ready();
  return { main, dashboards };
}

type SharedGuard = Pick<GuardOptions, 'rate' | 'attempts' | 'clock' | 'clientAddress' | 'session'>;
type ConsoleGuard = SharedGuard & { cookies: SessionCookies };

interface ManagementOptions
  extends Pick<Options, 'state' | 'clock' | 'domains' | 'findIdleStatus' | 'listUsageWarnings' | 'rateCounter'> {
  config: Pick<Config, 'basePath' | 'dataDirectory'>;
}

export function createManagement(
  { config, state, clock, domains, findIdleStatus, listUsageWarnings, rateCounter }: ManagementOptions,
  shared: SharedGuard,
): MountedInterface {
  return {
    documentPaths: ['/v1'],
    guard: {
      ...shared,
      counter: prefixIds(rateCounter, 'management'),
      authenticate: createKeyAuthentication({ ...domains, db: state.db, clock }),
      formatMissingRole: needsKeySession(formatMissingKeyRole),
      challenge: 'Basic realm="pilothouse", charset="UTF-8"',
    },
    bodyLimitBytes: management.bodyLimitBytes,
    routes: [
      organizationRoutes(domains),
      organizationChangeRoutes(domains),
      serviceRoutes({ ...domains, clock }),
      serviceLifecycleRoutes({ ...domains, clock }),
      serviceSettingsRoutes({ ...domains, clock }),
      autoscalingRoutes(domains),
      idleRoutes({ ...domains, findIdleStatus, clock }),
      logRoutes({ ...domains, ...createLogReader(config) }),
      keyRoutes({ ...domains, clock }),
      whoamiRoutes,
      roleRoutes(domains),
      billingRoutes(domains),
      prometheusRoutes({ ...domains, basePath: config.basePath }),
      reportRoutes(domains),
      forecastRoutes({ ...domains, clock }),
      budgetRoutes(domains),
      meteringRoutes(domains),
      usageWarningRoutes({ usageWarnings: { list: listUsageWarnings } }),
      auditRoutes(domains),
      tokenRoutes({ ...domains, clock }),
      clickStackDashboardRoutes(domains),
      clickStackSourceRoutes(domains),
      unsupportedManagementRoutes({
        organizationPath: OrganizationPath,
        servicePath: ServicePath,
        getService: createOrganizationReader(domains.services),
      }),
    ],
  };
}

function createDashboardInterface(
  { state, clock, domains, rateCounter }: Options,
  shared: SharedGuard,
): MountedInterface {
  return {
    documentPaths: [],
    guard: {
      ...shared,
      counter: prefixIds(rateCounter, 'dashboards'),
      authenticate: createTokenAuthentication({ db: state.db, clock, lastUsed: domains.tokensLastUsed }),
      formatMissingRole: needsDashboardRole(needsWriteToken),
      challenge: 'Bearer realm="pilothouse"',
    },
    bodyLimitBytes: dashboardApi.bodyLimitBytes,
    routes: [
      dashboardReadRoutes(domains),
      dashboardRoutes(domains),
      versionRoutes(domains),
      sourceRoutes(domains),
      connectionRoutes(),
      chartRoutes({ ...domains, clock }),
      unsupportedDashboardRoutes,
    ],
  };
}

/** The app of the main port: the console and the given interfaces. */
async function mountMain(options: Options, shared: ConsoleGuard, interfaces: MountedInterface[]): Promise<App> {
  const { config, consoleDirectory } = options;
  const files = findPageFiles(consoleDirectory, config.basePath);
  const page = files && createPage(files);
  const app = await createMountedApp(options, shared, interfaces, page);
  mountConsole(app, options, shared);
  if (files && page) pageRoutes(files, page)(app);
  else serveReferenceAtRoot(app, config.basePath);
  await app.ready();
  return app;
}

function mountConsole(app: App, { config, domains, version, demo, rateCounter }: Options, shared: ConsoleGuard): void {
  const { basePath, rateLimit, dashboardPort } = config;
  const { attempts, clock, clientAddress, cookies } = shared;
  const signIns = rateLimit && createRateLimiter(rateLimit, clock, prefixIds(rateCounter, 'sign-ins'));
  const hasDashboards = dashboardPort === undefined;
  app.register((scope) => {
    limitBodies(scope as App, consoleInterface.bodyLimitBytes);
    decorateRequests(scope as App, clientAddress);
    sessionRoutes({ ...domains, cookies, hasDashboards, attempts, signIns })(scope as App);
    setupRoutes({ ...domains, attempts })(scope as App);
    const { isNeeded: needsSetup } = domains.setup;
    configRoutes({ basePath, version, defaultDriver: config.defaultDriver, demo, needsSetup })(scope as App);
  });
}

/** An app with the parts that every port has: the interfaces, their OpenAPI document, health and metrics. */
async function createMountedApp(
  { config, version, state, domains, demo, ...options }: Options,
  shared: SharedGuard,
  interfaces: MountedInterface[],
  page?: AppOptions['page'],
): Promise<App> {
  const { clock, isDraining, listUsageWarnings, listHungWorkers, renderMetrics } = options;
  const app = createApp({ ...options, basePath: config.basePath, page });
  if (demo) requireLoopbackHost(app);
  await describeRoutes(app, version, config.basePath);
  serveDocument(app, ['/openapi.json', ...interfaces.flatMap(({ documentPaths }) => documentPaths)]);
  const authorizeMetrics = createMetricsAuthorization({ ...shared, token: config.metricsToken });
  const listWarnings = async () => [
    ...state.listWarnings(),
    ...domains.engine.listWarnings(),
    ...(await listUsageWarnings()),
  ];
  const checkReady = async () => {
    const [hung] = await listHungWorkers();
    // Some connections would wait for it.
    if (hung !== undefined) throw new Error(`The worker process ${hung} does not respond; it is being replaced`);
    await state.check();
  };
  healthRoutes({ renderMetrics, authorizeMetrics, clock, isDraining, checkReady, listWarnings })(app);
  for (const one of interfaces) mountInterface(app, domains, one);
  return app;
}

export function mountInterface(
  app: App,
  { keptResponses }: Domains,
  { guard, bodyLimitBytes, routes }: MountedInterface,
) {
  app.register((scope) => {
    limitBodies(scope as App, bodyLimitBytes);
    guardRoutes(scope as App, guard);
    supportIdempotency(scope as App, keptResponses);
    for (const addRoutes of routes) scope.register((child) => addRoutes(child as App));
  });
}

function limitBodies(scope: App, bytes: number): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= bytes;
  });
}
