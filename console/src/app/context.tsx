import { createContext, type ReactNode, use, useSyncExternalStore } from 'react';
import type { ConsoleConfig } from '../api/config.ts';
import type { Operations } from '../api/generated.ts';
import { type Permissions, type Session, type SessionState, type SessionStore, toPermissions } from '../api/session.ts';

/** Created once in main.tsx and available to every page. */
export interface AppDependencies {
  /** The base path of the server, '' or '/x'. */
  base: string;
  api: Operations;
  sessions: SessionStore;
  config: Promise<ConsoleConfig>;
}

const AppContext = createContext<AppDependencies | undefined>(undefined);

export function AppProvider({ dependencies, children }: { dependencies: AppDependencies; children: ReactNode }) {
  return <AppContext value={dependencies}>{children}</AppContext>;
}

export function useDependencies(): AppDependencies {
  const dependencies = use(AppContext);
  if (!dependencies) throw new Error('AppProvider is missing');
  return dependencies;
}

export const useApi = (): Operations => useDependencies().api;

export const useConfig = (): ConsoleConfig => use(useDependencies().config);

export function useSessionState(): SessionState {
  const { sessions } = useDependencies();
  return useSyncExternalStore(sessions.subscribe, sessions.get);
}

/** The signed-in session. Only for routes that require one. */
export function useSession(): Session & Permissions & { organizationId: string } {
  const { session } = useSessionState();
  if (!session) throw new Error('There is no session');
  return { ...session, ...toPermissions(session), organizationId: session.organization.id };
}
