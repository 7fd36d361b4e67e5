import { isKeyRole, type Role } from '../kernel/access/roles.ts';
import { isAddressAllowed } from '../management/keys/key.ts';
import type { Identity, SessionAuthentication } from '../platform/http/guard.ts';
import { CSRF_HEADER } from '../platform/http/requests/cross-site.ts';
import { isCsrfToken } from './session.ts';
import type { SessionCookies } from './session-cookie.ts';
import type { SessionCredential } from './session-credential.ts';
import type { Sessions } from './sessions.ts';

/**
 * Cookie and CSRF header → identity. A cookie alone is not enough, even for reads: a browser sends it no
 * matter which page started the request.
 */
export function createSessionAuthentication(sessions: Sessions, cookies: SessionCookies): SessionAuthentication {
  return {
    findSecret: cookies.find,
    async authenticate(headers) {
      const csrf = headers[CSRF_HEADER];
      const secret = typeof csrf === 'string' ? cookies.find(headers) : undefined;
      if (secret === undefined || typeof csrf !== 'string' || !isCsrfToken(secret, csrf)) return undefined;
      const found = await sessions.find(secret);
      return found && toIdentity(found.credential);
    },
  };
}

export function toIdentity(credential: SessionCredential): Identity {
  const { ipAccessList } = credential;
  return {
    organizationId: credential.organizationId,
    revisions: { costs: credential.costRevision, dashboards: credential.dashboardRevision },
    credentialId: credential.id,
    credentialName: credential.name,
    suffix: credential.suffix,
    roles: credential.roles,
    allowsAddress: ipAccessList.length === 0 ? undefined : (address) => isAddressAllowed(ipAccessList, address),
    session: credential.kind,
    ...(credential.needsFreshSignIn && { needsFreshSignIn: true as const }),
    ...(credential.grants && { grants: credential.grants }),
  };
}

type FormatRoleError = (roles: readonly Role[], identity: Identity) => string;

/** The error for a token session on the management interface. */
export const needsKeySession =
  (otherwise: FormatRoleError): FormatRoleError =>
  (roles, identity) =>
    identity.session === 'token'
      ? 'You are signed in with a dashboard token, which works for dashboards only; sign in with a key'
      : otherwise(roles, identity);

/** The error for a key session on the dashboard interface. */
export const needsDashboardRole =
  (otherwise: FormatRoleError): FormatRoleError =>
  (roles, identity) =>
    identity.session !== 'token' && identity.session !== undefined
      ? `This operation needs the role ${roles.filter(isKeyRole).join(' or ')}`
      : otherwise(roles, identity);
