import { createSessionAuthentication, needsDashboardRole, needsKeySession } from '../console/authentication.ts';
import { configRoutes, type DemoCredentials } from '../console/config-routes.ts';
import { findPageFiles } from '../console/page-files.ts';
import { createPage, pageRoutes } from '../console/page-routes.ts';
import { createSessionCookies, readCookieSuffix, type SessionCookies } from '../console/session-cookie.ts';
import { sessionRoutes } from '../console/session-routes.ts';
import type { RateCounter } from '../kernel/rate-counter.ts';
import type { Clock } from '../kernel/time/clock.ts';
import { auditRoutes } from '../management/audit/routes.ts';
import { budgetRoutes } from '../management/billing/budgets/routes.ts';
import { forecastRoutes } from '../management/billing/forecast/routes.ts';
import { meteringRoutes } from '../management/billing/metering/routes.ts';
import { prometheusRoutes } from '../management/billing/prometheus/routes.ts';
import { usageWarningRoutes } from '../management/billing/rating/routes.ts';
import type { UsageWarning } from '../management/billing/rating/usage-warnings.ts';
import { reportRoutes } from '../management/billing/reports/routes.ts';
import { billingRoutes } from '../management/billing/routes.ts';
import { createKeyAuthentication } from '../management/keys/authentication.ts';
import { keyRoutes } from '../management/keys/routes.ts';
import { whoamiRoutes } from '../management/keys/whoami-routes.ts';
import { organizationRoutes } from '../management/organizations/routes.ts';
import { OrganizationPath } from '../management/organizations/schema.ts';
import { roleRoutes } from '../management/roles/routes.ts';
import { serviceLifecycleRoutes } from '../management/services/lifecycle-routes.ts';
import { serviceRoutes } from '../management/services/routes.ts';
import { ServicePath } from '../management/services/schema.ts';
import { serviceSettingsRoutes } from '../management/services/settings-routes.ts';
import { chartRoutes } from '../observability/charts/routes.ts';
import { clickStackDashboardRoutes } from '../observability/dashboards/clickstack-routes.ts';
import { dashboardReadRoutes } from '../observability/dashboards/read-routes.ts';
import { dashboardRoutes } from '../observability/dashboards/routes.ts';
import { versionRoutes } from '../observability/dashboards/version-routes.ts';
import { clickStackSourceRoutes } from '../observability/sources/clickstack-routes.ts';
import { connectionRoutes } from '../observability/sources/connection-routes.ts';
import { sourceRoutes } from '../observability/sources/routes.ts';
import { createTokenAuthentication, needsWriteToken } from '../observability/tokens/authentication.ts';
import { tokenRoutes } from '../observability/tokens/routes.ts';
import { organizationChangeRoutes } from '../operations/fleet/routes.ts';
import { setupRoutes } from '../operations/setup/routes.ts';
import { type AppOptions, createApp } from '../platform/http/app.ts';
import { decorateRequests, formatMissingKeyRole, type GuardOptions, guardRoutes } from '../platform/http/guard.ts';
import { consoleInterface, dashboards as dashboardApi, management } from '../platform/http/interfaces.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { prefixIds } from '../platform/http/limits/rate-counter.ts';
import { createRateLimiter } from '../platform/http/limits/rate-limit.ts';
import { healthRoutes } from '../platform/http/monitoring/health.ts';
import type { Metrics } from '../platform/http/monitoring/metrics.ts';
import { createMetricsAuthorization } from '../platform/http/monitoring/metrics-token.ts';
import { describeRoutes, serveDocument, serveReferenceAtRoot } from '../platform/http/openapi/openapi.ts';
import { createClientAddress } from '../platform/http/requests/client-address.ts';
import { supportIdempotency } from '../platform/http/requests/idempotency.ts';
import { requireLoopbackHost } from '../platform/http/requests/loopback-host.ts';
import { createOrganizationReader } from '../platform/http/requests/service-organization.ts';
import type { App, Routes } from '../platform/http/requests/validation.ts';
import {
  unsupportedDashboardRoutes,
  unsupportedManagementRoutes,
} from '../platform/http/responses/unsupported-routes.ts';
import type { State } from '../platform/state/state.ts';
import { autoscalingRoutes } from '../running/autoscaling/routes.ts';
import { type LogRouteOptions, logRoutes } from '../running/reconciliation/log-routes.ts';
import { type IdleRouteOptions, idleRoutes } from '../running/reconciliation/routes.ts';
import type { Domains } from './domains.ts';
import { createLogReader } from './drivers.ts';
import type { Config } from './settings/config.ts';

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
  listSlowQueries: LogRouteOptions['listSlowQueries'];
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
  extends Pick<
    Options,
    'state' | 'clock' | 'domains' | 'findIdleStatus' | 'listSlowQueries' | 'listUsageWarnings' | 'rateCounter'
  > {
  config: Pick<Config, 'basePath' | 'dataDirectory'>;
}

export function createManagement(
  { config, state, clock, domains, findIdleStatus, listSlowQueries, listUsageWarnings, rateCounter }: ManagementOptions,
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
      logRoutes({ ...domains, ...createLogReader(config), listSlowQueries }),
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
