import { createContext, type ReactNode, use, useSyncExternalStore } from 'react';
import type { ConsoleConfig } from '../api/config.ts';
import type { Operations } from '../api/generated.ts';
import { type Permissions, permissionsOf, type Session, type SessionState, type SessionStore } from '../api/session.ts';

/** What main.tsx builds once and every page may ask for. */
export interface Services {
  /** '' or '/x': the server's address is the page's origin and this. */
  base: string;
  api: Operations;
  sessions: SessionStore;
  config: Promise<ConsoleConfig>;
}

const AppContext = createContext<Services | undefined>(undefined);

export function AppProvider({ services, children }: { services: Services; children: ReactNode }) {
  return <AppContext value={services}>{children}</AppContext>;
}

export function useServices(): Services {
  const services = use(AppContext);
  if (!services) throw new Error('AppProvider is missing');
  return services;
}

export const useApi = (): Operations => useServices().api;

export const useConfig = (): ConsoleConfig => use(useServices().config);

export function useSessionState(): SessionState {
  const { sessions } = useServices();
  return useSyncExternalStore(sessions.subscribe, sessions.get);
}

/** Who is signed in; only for what stands behind the guard. */
export function useSession(): Session & Permissions & { organizationId: string } {
  const { session } = useSessionState();
  if (!session) throw new Error('Nobody is signed in');
  return { ...session, ...permissionsOf(session), organizationId: session.organization.id };
}
