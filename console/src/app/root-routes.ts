import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { toPermissions } from '../api/session.ts';
import type { AppDependencies } from './context.tsx';
import { Shell } from './shell.tsx';

export interface RouterContext extends AppDependencies {
  queries: QueryClient;
}

export const root = createRootRouteWithContext<RouterContext>()({});

/** Routes that require a session. If the session ends later, the shell shows a sign-in dialog over the page. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  async beforeLoad({ context: { sessions }, location }) {
    const { session } = await sessions.restore();
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
    return { permissions: toPermissions(session) };
  },
});
