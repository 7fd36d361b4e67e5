import { type AuthenticateSession, CSRF_HEADER, type Identity } from '../http/guard.ts';
import { ACCESS_ROLES } from '../tokens/token.ts';
import { isCsrf } from './session.ts';
import { admitsAddress, type Holder, type Sessions } from './sessions.ts';

export const SESSION_COOKIE = 'pilothouse_session';

/** Where a session is shown: the roles of a key count among services and keys, its access among dashboards. */
export type Place = 'management' | 'dashboards';

/** The secret in a `cookie` header. Of several the first: browsers put the most specific path there. */
export function sessionSecretIn(header: string | undefined): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [name, value] = part.trim().split('=', 2);
    if (name === SESSION_COOKIE && value) return value;
  }
  return undefined;
}

/**
 * Cookie and csrf header → caller. Both or nothing: a cookie alone is sent by the browser whoever asks it to, so it
 * counts as no credentials at all, also for reading.
 */
export function createSessionAuthentication(sessions: Sessions, place: Place): AuthenticateSession {
  return async ({ cookie, [CSRF_HEADER]: csrf }) => {
    const secret = typeof csrf === 'string' ? sessionSecretIn(cookie) : undefined;
    if (secret === undefined || typeof csrf !== 'string' || !isCsrf(secret, csrf)) return undefined;
    const found = await sessions.recall(secret);
    return found && callerAs(found.holder, place);
  };
}

/** The one who is signed in, as the guard knows callers. */
export function callerAs(holder: Holder, place: Place): Identity {
  const access = holder.access === 'none' ? [] : ACCESS_ROLES[holder.access];
  return {
    organizationId: holder.organizationId,
    revisions: { costs: holder.costRevision, dashboards: holder.dashboardRevision },
    credentialId: holder.id,
    credentialName: holder.name,
    suffix: holder.suffix,
    roles: place === 'dashboards' ? access : holder.roles,
    allowsAddress: holder.ipAccessList.length === 0 ? undefined : (address) => admitsAddress(holder, address),
    session: holder.kind,
  };
}

type RoleRefusal = (roles: readonly string[], caller: Identity) => string;

/** Why somebody who is signed in with a token is refused by the management interface. */
export const needsKeySession =
  (otherwise: RoleRefusal): RoleRefusal =>
  (roles, caller) =>
    caller.session === 'token'
      ? 'You are signed in with a dashboard token, which is for dashboards only; sign in with a key'
      : otherwise(roles, caller);

/** Why somebody who is signed in with a key is refused by the dashboard interface. */
export const needsDashboardRole =
  (otherwise: RoleRefusal): RoleRefusal =>
  (roles, caller) =>
    caller.session === 'key'
      ? `This operation needs the role ${roles.includes('write') ? 'admin' : 'admin or developer'}`
      : otherwise(roles, caller);
