import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { parseAlertsSearch, parseNewAlertSearch } from '../pages/alerts/search.ts';
import { signedIn } from './root-routes.ts';

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts',
  validateSearch: parseAlertsSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/alerts-page.tsx'), 'AlertsPage'),
});

const newAlert = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts/new',
  validateSearch: parseNewAlertSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/form/new-alert-page.tsx'), 'NewAlertPage'),
});

const alert = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts/$id',
  component: lazyRouteComponent(() => import('../pages/alerts/alert-page.tsx'), 'AlertPage'),
});

const editAlert = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts/$id/edit',
  component: lazyRouteComponent(() => import('../pages/alerts/form/edit-alert-page.tsx'), 'EditAlertPage'),
});

const channels = createRoute({
  getParentRoute: () => signedIn,
  path: '/channels',
  component: lazyRouteComponent(() => import('../pages/channels/channels-page.tsx'), 'ChannelsPage'),
});

export const alertRoutes = [alerts, newAlert, alert, editAlert, channels] as const;
