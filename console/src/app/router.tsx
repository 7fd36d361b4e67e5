import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { sourcesQuery } from '../api/queries.ts';
import { parseActivitySearch } from '../pages/activity/search.ts';
import { parseCostsSearch } from '../pages/costs/search.ts';
import { parseDashboardSearch, parseDashboardsSearch } from '../pages/dashboards/search.ts';
import { parseSharedSearch } from '../pages/linked-dashboard/search.ts';
import { OverviewPage } from '../pages/overview/overview-page.tsx';
import { prefetchOverview } from '../pages/overview/prefetch-overview.ts';
import { parseRowSearch } from '../pages/search/search.ts';
import { parseSignInSearch } from '../pages/sign-in/search.ts';
import { parseTelemetrySearch } from '../pages/telemetry/search.ts';
import { parseTraceSearch, parseTracesSearch } from '../pages/traces/search.ts';
import { alertRoutes } from './alert-routes.ts';
import { ErrorPage } from './error-page.tsx';
import { listDestinations } from './navigation.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { type RouterContext, root, signedIn } from './root-routes.ts';

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: parseSignInSearch,
  async beforeLoad({ context: { config } }) {
    if ((await config).needsSetup) throw redirect({ to: '/setup' });
  },
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** The first run of a server. */
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  async beforeLoad({ context: { config } }) {
    if (!(await config).needsSetup) throw redirect({ to: '/sign-in' });
  },
  component: lazyRouteComponent(() => import('../pages/setup/setup-page.tsx'), 'SetupPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../pages/invitation/invitation-page.tsx'), 'InvitationPage'),
});

/** A dashboard that a link shows without a session. Its secret is the fragment of the URL, which browsers do not send. */
const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared',
  validateSearch: parseSharedSearch,
  component: lazyRouteComponent(
    () => import('../pages/linked-dashboard/linked-dashboard-page.tsx'),
    'LinkedDashboardPage',
  ),
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad({ context: { permissions } }) {
    const [first] = listDestinations(permissions);
    if (!permissions.canSeeFleet && first) throw redirect({ to: first.to });
  },
  loader({ context: { queries, api, sessions, permissions } }) {
    const { session } = sessions.get();
    if (session && permissions.canSeeFleet)
      prefetchOverview(queries, api, session.organization.id, permissions.canSeeDashboards);
  },
  // The usual entry page, so it is part of the main bundle.
  component: OverviewPage,
});

const services = createRoute({
  getParentRoute: () => signedIn,
  path: '/services',
  component: lazyRouteComponent(() => import('../pages/services/services-page.tsx'), 'ServicesPage'),
});

const service = createRoute({
  getParentRoute: () => signedIn,
  path: '/services/$id',
  component: lazyRouteComponent(() => import('../pages/services/service-page.tsx'), 'ServicePage'),
});

const serviceOverview = createRoute({
  getParentRoute: () => service,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/services/overview/overview-tab.tsx'), 'OverviewTab'),
});

const serviceScaling = createRoute({
  getParentRoute: () => service,
  path: 'scaling',
  component: lazyRouteComponent(() => import('../pages/services/scaling/scaling-tab.tsx'), 'ScalingTab'),
});

const serviceAutoscaling = createRoute({
  getParentRoute: () => service,
  path: 'autoscaling',
  component: lazyRouteComponent(() => import('../pages/services/autoscaling/autoscaling-tab.tsx'), 'AutoscalingTab'),
});

const serviceSchedule = createRoute({
  getParentRoute: () => service,
  path: 'schedule',
  component: lazyRouteComponent(() => import('../pages/services/schedule/schedule-tab.tsx'), 'ScheduleTab'),
});

const serviceBackups = createRoute({
  getParentRoute: () => service,
  path: 'backups',
  component: lazyRouteComponent(() => import('../pages/services/backups/backups-tab.tsx'), 'BackupsTab'),
});

const serviceAccess = createRoute({
  getParentRoute: () => service,
  path: 'access',
  component: lazyRouteComponent(() => import('../pages/services/access/access-tab.tsx'), 'AccessTab'),
});

const serviceLogs = createRoute({
  getParentRoute: () => service,
  path: 'logs',
  component: lazyRouteComponent(() => import('../pages/services/logs/logs-tab.tsx'), 'LogsTab'),
});

const serviceSql = createRoute({
  getParentRoute: () => service,
  path: 'sql',
  component: lazyRouteComponent(() => import('../pages/sql/sql-tab.tsx'), 'SqlTab'),
});

const serviceHistory = createRoute({
  getParentRoute: () => service,
  path: 'history',
  component: lazyRouteComponent(() => import('../pages/services/history/history-tab.tsx'), 'HistoryTab'),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const roles = createRoute({
  getParentRoute: () => signedIn,
  path: '/roles',
  component: lazyRouteComponent(() => import('../pages/roles/roles-page.tsx'), 'RolesPage'),
});

const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/members',
  component: lazyRouteComponent(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
});

const tokens = createRoute({
  getParentRoute: () => signedIn,
  path: '/tokens',
  component: lazyRouteComponent(() => import('../pages/tokens/tokens-page.tsx'), 'TokensPage'),
});

const costs = createRoute({
  getParentRoute: () => signedIn,
  path: '/costs',
  validateSearch: parseCostsSearch,
  component: lazyRouteComponent(() => import('../pages/costs/costs-page.tsx'), 'CostsPage'),
});

const search = createRoute({
  getParentRoute: () => signedIn,
  path: '/search',
  validateSearch: parseRowSearch,
  loader({ context: { queries, api, sessions } }) {
    const { session } = sessions.get();
    if (session) void queries.prefetchQuery(sourcesQuery(api, session.organization.id));
  },
  component: lazyRouteComponent(() => import('../pages/search/search-page.tsx'), 'SearchPage'),
});

const dashboards = createRoute({
  getParentRoute: () => signedIn,
  path: '/dashboards',
  validateSearch: parseDashboardsSearch,
  component: lazyRouteComponent(() => import('../pages/dashboards/dashboards-page.tsx'), 'DashboardsPage'),
});

const dashboard = createRoute({
  getParentRoute: () => signedIn,
  path: '/dashboards/$id',
  validateSearch: parseDashboardSearch,
  component: lazyRouteComponent(() => import('../pages/dashboards/dashboard-page.tsx'), 'DashboardPage'),
});

const sources = createRoute({
  getParentRoute: () => signedIn,
  path: '/sources',
  component: lazyRouteComponent(() => import('../pages/sources/sources-page.tsx'), 'SourcesPage'),
});

const telemetry = createRoute({
  getParentRoute: () => signedIn,
  path: '/telemetry',
  validateSearch: parseTelemetrySearch,
  component: lazyRouteComponent(() => import('../pages/telemetry/telemetry-page.tsx'), 'TelemetryPage'),
});

const traces = createRoute({
  getParentRoute: () => signedIn,
  path: '/traces',
  validateSearch: parseTracesSearch,
  component: lazyRouteComponent(() => import('../pages/traces/traces-page.tsx'), 'TracesPage'),
});

const trace = createRoute({
  getParentRoute: () => signedIn,
  path: '/traces/$traceId',
  validateSearch: parseTraceSearch,
  component: lazyRouteComponent(() => import('../pages/traces/trace-page.tsx'), 'TracePage'),
});

const serviceMap = createRoute({
  getParentRoute: () => signedIn,
  path: '/service-map',
  validateSearch: parseTracesSearch,
  component: lazyRouteComponent(() => import('../pages/service-map/service-map-page.tsx'), 'ServiceMapPage'),
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: '/activity',
  validateSearch: parseActivitySearch,
  component: lazyRouteComponent(() => import('../pages/activity/activity-page.tsx'), 'ActivityPage'),
});

/** Every other path. */
const notFound = createRoute({ getParentRoute: () => signedIn, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  signIn,
  setup,
  invitation,
  shared,
  signedIn.addChildren([
    overview,
    services,
    service.addChildren([
      serviceOverview,
      serviceScaling,
      serviceAutoscaling,
      serviceSchedule,
      serviceBackups,
      serviceAccess,
      serviceLogs,
      serviceSql,
      serviceHistory,
    ]),
    members,
    keys,
    roles,
    tokens,
    costs,
    search,
    dashboards,
    dashboard,
    ...alertRoutes,
    sources,
    traces,
    trace,
    serviceMap,
    telemetry,
    activity,
    notFound,
  ]),
]);

export const createConsoleRouter = (context: RouterContext) =>
  createRouter({
    routeTree,
    context,
    basepath: context.base === '' ? '/' : context.base,
    // Search parameters that a route does not declare are dropped.
    search: { strict: true },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
  });

/** Loads the script of the requested page in parallel with the session. */
export function preloadPage(router: ReturnType<typeof createConsoleRouter>): void {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const { options } of routes) void options.component?.preload?.();
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
