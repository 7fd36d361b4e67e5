import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { permissionsOf } from '../api/session.ts';
import { activitySearch } from '../pages/activity/search.ts';
import { costsSearch } from '../pages/costs/search.ts';
import { dashboardSearch, dashboardsSearch } from '../pages/dashboards/search.ts';
import { askForOverview } from '../pages/overview/first-questions.ts';
import { OverviewPage } from '../pages/overview/overview-page.tsx';
import { signInSearch } from '../pages/sign-in/search.ts';
import type { Services } from './context.tsx';
import { FailedPage } from './failed-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { Shell } from './shell.tsx';

export interface RouterContext extends Services {
  queries: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** Everything behind the guard. A session that ends later is the shell's business: the page must not go away. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  async beforeLoad({ context: { sessions }, location }) {
    const { session } = await sessions.restore();
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
    return { permissions: permissionsOf(session) };
  },
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad({ context: { permissions } }) {
    if (!permissions.canSeeFleet && permissions.canSeeDashboards) throw redirect({ to: '/dashboards' });
  },
  loader({ context: { queries, api, sessions, permissions } }) {
    const { session } = sessions.get();
    if (session && permissions.canSeeFleet) askForOverview(queries, api, session.organization.id);
  },
  // Where nearly everybody arrives: it comes with the frame around it.
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

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const costs = createRoute({
  getParentRoute: () => signedIn,
  path: '/costs',
  validateSearch: costsSearch,
  component: lazyRouteComponent(() => import('../pages/costs/costs-page.tsx'), 'CostsPage'),
});

const dashboards = createRoute({
  getParentRoute: () => signedIn,
  path: '/dashboards',
  validateSearch: dashboardsSearch,
  component: lazyRouteComponent(() => import('../pages/dashboards/dashboards-page.tsx'), 'DashboardsPage'),
});

const dashboard = createRoute({
  getParentRoute: () => signedIn,
  path: '/dashboards/$id',
  validateSearch: dashboardSearch,
  component: lazyRouteComponent(() => import('../pages/dashboards/dashboard-page.tsx'), 'DashboardPage'),
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: '/activity',
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import('../pages/activity/activity-page.tsx'), 'ActivityPage'),
});

/** Every other address, for those who are signed in. */
const anything = createRoute({ getParentRoute: () => signedIn, path: '$', component: MissingPage });

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([overview, services, service, keys, costs, dashboards, dashboard, activity, anything]),
]);

export const createConsoleRouter = (context: RouterContext) =>
  createRouter({
    routeTree,
    context,
    basepath: context.base === '' ? '/' : context.base,
    // What a page does not know of its address is not handed to it.
    search: { strict: true },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: FailedPage,
    defaultNotFoundComponent: MissingPage,
  });

/** The script of the page that was asked for comes while the server says who is signed in, not after it. */
export function loadPage(router: ReturnType<typeof createConsoleRouter>): void {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const { options } of routes) void options.component?.preload?.();
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
