import { createSessionAuthentication } from '../console/authentication.ts';
import { configRoutes, type DemoCredentials, type OtlpAddress } from '../console/config-routes.ts';
import { invitationPageRoutes } from '../console/invitation-page-routes.ts';
import { oidcRoutes } from '../console/oidc/oidc-routes.ts';
import { providerSignOutRoutes } from '../console/oidc/sign-out-routes.ts';
import { ownSessionRoutes } from '../console/own-session-routes.ts';
import { findPageFiles } from '../console/page-files.ts';
import { createPage, pageRoutes } from '../console/page-routes.ts';
import { createSessionCookies, readCookieSuffix, type SessionCookies } from '../console/session-cookie.ts';
import { sessionRoutes } from '../console/session-routes.ts';
import { sharedRoutes } from '../observability/links/shared-routes.ts';
import { setupRoutes } from '../operations/setup/routes.ts';
import { type AppOptions, createApp } from '../platform/http/app.ts';
import { decorateRequests, type GuardOptions, guardRoutes } from '../platform/http/guard.ts';
import { consoleInterface } from '../platform/http/interfaces.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { prefixIds } from '../platform/http/limits/rate-counter.ts';
import { createRateLimiter } from '../platform/http/limits/rate-limit.ts';
import { healthRoutes } from '../platform/http/monitoring/health.ts';
import type { Metrics } from '../platform/http/monitoring/metrics.ts';
import { createMetricsAuthorization } from '../platform/http/monitoring/metrics-token.ts';
import { describeRoutes, serveDocument, serveReferenceAtRoot } from '../platform/http/openapi/openapi.ts';
import { observeRefusals } from '../platform/http/refusals.ts';
import { createClientAddress } from '../platform/http/requests/client-address.ts';
import { supportIdempotency } from '../platform/http/requests/idempotency.ts';
import { requireLoopbackHost } from '../platform/http/requests/loopback-host.ts';
import type { App } from '../platform/http/requests/validation.ts';
import type { Domains } from './domains.ts';
import {
  createDashboardInterface,
  createManagement,
  createOtlpInterface,
  createQueryEndpointInterface,
  type InterfaceOptions,
  type MountedInterface,
  type SharedGuard,
} from './interfaces.ts';
import type { Config } from './settings/config.ts';

interface Options extends Omit<AppOptions, 'page' | 'basePath'>, Omit<InterfaceOptions, 'config'> {
  config: Pick<
    Config,
    | 'basePath'
    | 'dataDirectory'
    | 'dashboardPort'
    | 'otlpPort'
    | 'rateLimit'
    | 'trustedProxies'
    | 'metricsToken'
    | 'defaultDriver'
    | 'publicUrl'
    | 'consoleKeySignIn'
  >;
  metrics: Metrics;
  /** The process ids of workers that do not respond. */
  listHungWorkers(): Promise<number[]>;
  renderMetrics(): Promise<string>;
  /** Shared with the endpoints of services. */
  attempts: AttemptLimit;
  version: string;
  consoleDirectory: string;
  /** Public credentials that the sign-in page offers. */
  demo: DemoCredentials | undefined;
  isDraining(): boolean;
  /** Known once the server listens. */
  findOtlpAddress(): OtlpAddress | undefined;
}

/** The apps of a server by port. Those without a separate port are part of the main one. */
interface MountedApps {
  main: App;
  dashboards: App | undefined;
  otlp: App | undefined;
  /** For OTLP/gRPC, which is not part of an app. */
  otlpGuard: GuardOptions;
}

/** Creates one app, and one for each interface with a separate port (decision B1). */
export async function mountApps(options: Options): Promise<MountedApps> {
  const { config, clock, domains } = options;
  const cookies = createSessionCookies(
    await readCookieSuffix(options.state),
    config.basePath,
    options.certificate !== undefined,
  );
  const shared = {
    rate: config.rateLimit,
    attempts: options.attempts,
    clock,
    clientAddress: createClientAddress(config.trustedProxies),
    cookies,
    session: createSessionAuthentication(domains.sessions, cookies),
  };
  const dashboardInterface = createDashboardInterface(options, shared);
  const otlpInterface = createOtlpInterface(options, shared);
  const mainInterfaces = [
    createManagement(options, shared),
    createQueryEndpointInterface(options, shared),
    otlpInterface,
  ];
  if (config.dashboardPort === undefined) mainInterfaces.push(dashboardInterface);
  const main = await mountMain(options, shared, mainInterfaces);
  let [dashboards, otlp]: (App | undefined)[] = [];
  if (config.dashboardPort !== undefined) {
    dashboards = await createMountedApp(options, shared, [dashboardInterface]);
    serveReferenceAtRoot(dashboards, config.basePath);
    await dashboards.ready();
  }
  if (config.otlpPort !== undefined) {
    // SDKs append `/v1/logs` to the address of the port, so it has no base path.
    const atRoot = { ...options, config: { ...config, basePath: '' as const } };
    otlp = await createMountedApp(atRoot, shared, [createOtlpInterface(options, shared, 'every path')]);
    await otlp.ready();
  }
  return { main, dashboards, otlp, otlpGuard: otlpInterface.guard };
}

type ConsoleGuard = SharedGuard & { cookies: SessionCookies };

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

function mountConsole(app: App, options: Options, shared: ConsoleGuard): void {
  const { config, domains, version, demo, rateCounter, findOtlpAddress } = options;
  const { basePath, rateLimit, dashboardPort, defaultDriver, publicUrl, consoleKeySignIn: allowsKeys } = config;
  const { attempts, clock, clientAddress, cookies } = shared;
  const signIns = rateLimit && createRateLimiter(rateLimit, clock, prefixIds(rateCounter, 'sign-ins'));
  const linkRequests = rateLimit && createRateLimiter(rateLimit, clock, prefixIds(rateCounter, 'links'));
  const hasDashboards = dashboardPort === undefined;
  app.register((scope) => {
    limitBodies(scope as App, consoleInterface.bodyLimitBytes);
    decorateRequests(scope as App, clientAddress);
    const signIn = { ...domains, cookies, attempts, signIns, publicUrl, basePath, clock: options.clock };
    // Each with hooks of its own.
    for (const addRoutes of [
      sessionRoutes({ ...signIn, hasDashboards }),
      ownSessionRoutes(signIn),
      oidcRoutes(signIn),
      providerSignOutRoutes(signIn),
      invitationPageRoutes(signIn),
    ])
      scope.register((child) => addRoutes(child as App));
    setupRoutes({ ...domains, attempts })(scope as App);
    if (hasDashboards)
      sharedRoutes({ ...domains, clock: options.clock, attempts, requests: linkRequests })(scope as App);
    const { isNeeded: needsSetup } = domains.setup;
    configRoutes({
      basePath,
      version,
      defaultDriver,
      demo,
      findOtlpAddress,
      providerIssuer: domains.provider?.issuer,
      allowsKeys,
      needsSetup,
    })(scope as App);
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
    ...domains.ingest.listWarnings(),
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
  { keptResponses, hourlyCounts }: Domains,
  { guard, credential, bodyLimitBytes, routes }: MountedInterface,
) {
  app.register((scope) => {
    limitBodies(scope as App, bodyLimitBytes);
    guardRoutes(scope as App, guard);
    observeRefusals(scope as App, credential, ({ credentialId: subjectId, credentialName: name, ...refusal }) =>
      hourlyCounts.count({ ...refusal, type: 'calls_refused', subjectId, name }),
    );
    supportIdempotency(scope as App, keptResponses);
    for (const addRoutes of routes) scope.register((child) => addRoutes(child as App));
  });
}

function limitBodies(scope: App, bytes: number): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= bytes;
  });
}
