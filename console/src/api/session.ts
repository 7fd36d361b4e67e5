import { createUnreachableError, toApiError } from './errors.ts';
import type { ConsoleSessionGetResult, ConsoleSignOutResult, Operations } from './generated.ts';
import { readJson } from './read-json.ts';

/** The signed-in session. Its CSRF token stays inside the store. */
export type Session = Omit<ConsoleSessionGetResult, 'csrf'>;

export type Credentials = { keyId: string; keySecret: string } | { token: string };

/**
 * `ended`: the server no longer accepts the session. The page stays as it is until the user signs in again.
 * `stale`: the last change needs a newer sign-in with the identity provider.
 */
export type SessionState =
  | { status: 'unknown' | 'signed-out'; session: undefined }
  | { status: 'signed-in' | 'ended' | 'stale'; session: Session };

export interface SessionStore {
  get(): SessionState;
  subscribe(listener: () => void): () => void;
  /** Sent with every request. Held in memory only; a reload fetches a new one. */
  csrf(): string | undefined;
  /** Fetches the session on the first call and returns the state. */
  restore(): Promise<SessionState>;
  /** Fetches a new CSRF token; false if the session has ended. */
  renew(): Promise<boolean>;
  signIn(credentials: Credentials): Promise<Session>;
  /** Returns where the person can sign out at the identity provider as well. */
  signOut(): Promise<string | undefined>;
  end(): void;
  requireFreshSignIn(): void;
  /** The user continues without the change that needs a newer sign-in. */
  dismissFreshSignIn(): void;
}

export function createSessionStore(base: string): SessionStore {
  const url = `${base}/console/session`;
  let state: SessionState = { status: 'unknown', session: undefined };
  let csrf: string | undefined;
  let renewing: Promise<boolean> | undefined;
  const listeners = new Set<() => void>();

  const setState = (next: SessionState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const storeSession = ({ csrf: token, ...session }: ConsoleSessionGetResult): Session => {
    csrf = token;
    setState({ status: 'signed-in', session });
    return session;
  };
  const request = async (method: string, body?: object): Promise<Response> => {
    try {
      return await fetch(url, {
        method,
        credentials: 'same-origin',
        headers: {
          accept: 'application/json',
          ...(csrf === undefined ? {} : { 'x-pilothouse-csrf': csrf }),
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    } catch {
      throw createUnreachableError();
    }
  };
  const fetchSession = async (): Promise<boolean> => {
    const response = await request('GET');
    // Always read the body: an unread response keeps its connection open.
    const payload = await readJson(response);
    if (response.ok) storeSession(payload as ConsoleSessionGetResult);
    // 403: the IP access list of the key excludes this address. Another key may work.
    else if (response.status !== 401 && response.status !== 403) throw toApiError(response.status, payload);
    return response.ok;
  };

  const store: SessionStore = {
    get: () => state,
    csrf: () => csrf,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async restore() {
      if (state.status === 'unknown' && !(await store.renew())) setState({ status: 'signed-out', session: undefined });
      return state;
    },
    renew() {
      renewing ??= fetchSession().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    async signIn(credentials) {
      const response = await request('POST', credentials);
      const payload = await readJson(response);
      if (!response.ok) throw toApiError(response.status, payload);
      return storeSession(payload as ConsoleSessionGetResult);
    },
    async signOut() {
      const response = await request('DELETE');
      const payload = await readJson(response);
      if (!response.ok && response.status !== 401) throw toApiError(response.status, payload);
      csrf = undefined;
      setState({ status: 'signed-out', session: undefined });
      return response.ok ? (payload as ConsoleSignOutResult).providerUrl : undefined;
    },
    end() {
      if (state.session) setState({ status: 'ended', session: state.session });
    },
    requireFreshSignIn() {
      if (state.session) setState({ status: 'stale', session: state.session });
    },
    dismissFreshSignIn() {
      if (state.status === 'stale') setState({ status: 'signed-in', session: state.session });
    },
  };
  return store;
}

/** Which pages and actions to show. The server checks every request again. */
export interface Permissions {
  /** Whether the key may use an operation, for at least one service. */
  can(operation: keyof Operations): boolean;
  /** Can view services, keys, costs and activity. */
  canSeeFleet: boolean;
  canSeeDashboards: boolean;
  canChangeDashboards: boolean;
}

/** What the overview shows. */
const FLEET_OPERATIONS = [
  'instanceGetList',
  'openapiKeyGetList',
  'usageCostGet',
  'usageCostSummaryGet',
  'usageCostForecastGet',
  'budgetGetList',
  'activityGetList',
] as const;

export function toPermissions({ operations, access }: Session): Permissions {
  const can = (operation: keyof Operations) => operations.includes(operation);
  return {
    can,
    canSeeFleet: FLEET_OPERATIONS.every(can),
    canSeeDashboards: access !== 'none',
    canChangeDashboards: access === 'write',
  };
}
