import type { Logger } from 'pino';
import { CALLBACK_PATH } from '../console/oidc/oidc-routes.ts';
import { createProvider } from '../console/oidc/provider.ts';
import { createSessionLists } from '../console/session-lists.ts';
import { createSessionRefresh } from '../console/session-refresh.ts';
import { createSessions } from '../console/sessions.ts';
import { deleteOldestSessions } from '../console/store.ts';
import { type Clock, MINUTE_MS } from '../kernel/time/clock.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { RoleReader } from '../management/keys/assigned-roles.ts';
import type { KeyVerifier } from '../management/keys/verification.ts';
import { createAdmission } from '../management/members/admission.ts';
import { createInvitationMail } from '../management/members/invitation-mail.ts';
import { createInvitations } from '../management/members/invitations.ts';
import { createMembers } from '../management/members/members.ts';
import { createMemberVerifier } from '../management/members/verification.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import type { TokenVerifier } from '../observability/tokens/verification.ts';
import { createLastUsed } from '../platform/credentials/last-used.ts';
import type { MailSettings } from '../platform/notifications/senders/email.ts';
import type { State } from '../platform/state/state.ts';
import type { Config } from './settings/config.ts';

export type PeopleConfig = Partial<
  Pick<
    Config,
    | 'oidcIssuer'
    | 'oidcClientId'
    | 'oidcClientSecret'
    | 'oidcScopes'
    | 'oidcRefreshMs'
    | 'consoleKeySignIn'
    | 'publicUrl'
  >
>;

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  audit: Audit;
  organizations: Organizations;
  roleReader: RoleReader;
  keys: KeyVerifier;
  tokens: TokenVerifier;
  smtp: MailSettings | undefined;
  config: PeopleConfig;
}

/** The identity provider of the settings; undefined without one. */
function openProvider(config: PeopleConfig, log: Pick<Logger, 'warn'>) {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret, oidcScopes, publicUrl } = config;
  if (issuer === undefined || clientId === undefined || publicUrl === undefined) return undefined;
  const settings = {
    issuer,
    clientId,
    clientSecret: oidcClientSecret,
    scopes: oidcScopes ?? 'openid',
    redirectUrl: `${publicUrl}${CALLBACK_PATH}`,
  };
  return createProvider({ settings, log });
}

/** Members, invitations and console sessions. */
export function createPeople({
  state,
  clock,
  log,
  audit,
  organizations,
  roleReader,
  keys,
  tokens,
  smtp,
  config,
}: Options) {
  const { db } = state;
  const provider = openProvider(config, log);
  const members = createMembers({ state, audit, organizations, roleReader });
  const hasProvider = provider !== undefined;
  const invitations = createInvitations({
    state,
    clock,
    audit,
    organizations,
    roleReader,
    members,
    hasProvider,
  });
  const admission = createAdmission({
    state,
    clock,
    audit,
    organizations,
    endSessions: (tx, organizationId, userId) => deleteOldestSessions(tx, organizationId, userId, 0),
  });
  const membersLastSeen = createLastUsed({ state, clock, log, table: 'members' });
  const sessionsLastSeen = createLastUsed({ state, clock, log, table: 'console_sessions' });
  const verifier = createMemberVerifier({ db, lastSeen: membersLastSeen, roleReader });
  const refresh = createSessionRefresh({
    state,
    clock,
    log,
    provider,
    refreshMs: config.oidcRefreshMs ?? 5 * MINUTE_MS,
    admission,
    members: verifier,
  });
  const sessions = createSessions({
    state,
    clock,
    audit,
    keys,
    tokens,
    members: verifier,
    refresh,
    lastSeen: sessionsLastSeen,
    allowsKeys: config.consoleKeySignIn ?? true,
  });
  return {
    provider,
    hasProvider,
    members,
    invitations,
    sendInvitation: createInvitationMail({ organizations, smtp, publicUrl: config.publicUrl, log }),
    admission,
    membersLastSeen,
    sessionsLastSeen,
    sessions,
    sessionLists: createSessionLists({ state, clock, audit, members: verifier }),
  };
}
