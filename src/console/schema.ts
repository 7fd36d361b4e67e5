import Type, { type Static } from 'typebox';
import { DASHBOARD_ACCESSES } from '../kernel/access/roles.ts';
import { NamedObject } from '../kernel/schemas/named-object.ts';
import { isoTime } from '../kernel/time/clock.ts';
import { MemberPath } from '../management/members/schema.ts';
import { TIERS } from '../management/organizations/organization.ts';
import { DRIVER_NAMES } from '../management/services/driver.ts';
import { getSessionId, SESSION_KINDS, type Session } from './session.ts';

const MAX_CREDENTIAL_CHARACTERS = 4096;
const Credential = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CREDENTIAL_CHARACTERS, description }));

export const SignInBody = NamedObject(
  'SignInRequest',
  {
    keyId: Credential('Signs in with a key; requires keySecret'),
    keySecret: Credential('Requires keyId'),
    token: Credential('Signs in with a dashboard token, for dashboards only; excludes keyId and keySecret'),
  },
  { description: 'A key id and its secret, or a dashboard token' },
);

export const SessionRecord = NamedObject(
  'Session',
  {
    csrf: Type.String({ description: 'Send it in the x-pilothouse-csrf header of every request that uses the cookie' }),
    kind: Type.Enum([...SESSION_KINDS]),
    organization: Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      tier: Type.Enum([...TIERS]),
      paid: Type.Boolean({ description: 'Determines the memory limits of its services' }),
    }),
    credential: Type.Object({
      id: Type.String(),
      name: Type.String(),
      roles: Type.Array(Type.String(), {
        description: 'The names of the roles of the member or key; empty for a token',
      }),
    }),
    organizations: Type.Array(Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), {
      description: 'The organizations that a member can switch to, with the current one',
    }),
    operations: Type.Array(Type.String(), {
      description:
        'The ids of the operations that the member or key may use, for at least one service; empty for a token',
    }),
    address: Type.String({ description: 'The client address that the IP access list of a key is checked against' }),
    access: Type.Enum([...DASHBOARD_ACCESSES], { description: 'Access to dashboards' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'The session ends earlier after two hours without a request',
    }),
  },
  { description: 'Signed in' },
);

export const SignedOut = Type.Object({}, { description: 'Done' });

export const SignOutResult = Type.Object(
  {
    providerUrl: Type.Optional(
      Type.String({ description: 'Where the person can sign out at the identity provider as well' }),
    ),
  },
  { description: 'Signed out' },
);

const SESSION_MEMBERS = {
  id: Type.String({ format: 'uuid' }),
  createdAt: Type.String({ format: 'date-time' }),
  lastSeenAt: Type.String({ format: 'date-time', description: 'One-minute precision' }),
  expiresAt: Type.String({ format: 'date-time', description: 'It ends earlier after two hours without a request' }),
  address: Type.Optional(Type.String({ description: 'Where the session was opened' })),
  userAgent: Type.Optional(Type.String({ description: 'The browser that opened the session' })),
};

export const SessionSummary = NamedObject('SessionSummary', SESSION_MEMBERS);
export const OwnSessionRecord = NamedObject('OwnSession', { ...SESSION_MEMBERS, isCurrent: Type.Boolean() });

const SessionId = { sessionId: Type.String({ format: 'uuid' }) };
export const SessionIdPath = Type.Object(SessionId);
export const MemberSessionPath = Type.Object({ ...MemberPath.properties, ...SessionId });
export const SwitchBody = NamedObject('SwitchOrganizationRequest', { organizationId: Type.String({ format: 'uuid' }) });

export function toSessionSummary(session: Session): Static<typeof SessionSummary> {
  const { address, userAgent } = session.details;
  return {
    id: getSessionId(session),
    createdAt: isoTime(session.createdAt),
    lastSeenAt: isoTime(session.seenAt),
    expiresAt: isoTime(session.expiresAt),
    ...(address !== undefined && { address }),
    ...(userAgent !== undefined && { userAgent }),
  };
}

const InvitationSecret = Type.String({ minLength: 1, maxLength: MAX_CREDENTIAL_CHARACTERS });
export const InvitationBody = NamedObject('InvitationSecret', { secret: InvitationSecret });

export const OpenInvitation = NamedObject('OpenInvitation', {
  email: Type.String(),
  organizationName: Type.String(),
  expireAt: Type.String({ format: 'date-time' }),
  needsProvider: Type.Boolean({
    description: 'The person joins by signing in with the identity provider; otherwise by accepting the invitation',
  }),
});

export const OidcQuery = Type.Object(
  {
    returnTo: Type.Optional(
      Type.String({ maxLength: 2048, description: 'The page of the console to open afterwards, such as /services' }),
    ),
    fresh: Type.Optional(
      Type.Enum(['1'], { description: 'The provider asks the person again, also if they are signed in there' }),
    ),
  },
  { additionalProperties: false },
);

export const FrontChannelQuery = Type.Object(
  {
    iss: Type.Optional(Type.String({ maxLength: 2048 })),
    sid: Type.Optional(Type.String({ maxLength: 1024 })),
  },
  { additionalProperties: false },
);

export const BackChannelBody = Type.Object({
  logout_token: Type.String({
    maxLength: 64 * 1024,
    description: 'A signed token that names the session or the person',
  }),
});

export const ConsoleConfig = NamedObject(
  'ConsoleConfig',
  {
    basePath: Type.String({ description: 'Prefix of every path; empty at the root' }),
    version: Type.String(),
    defaultDriver: Type.Enum([...DRIVER_NAMES], {
      description: 'What runs services that are created without a driver',
    }),
    demo: Type.Union([Type.Object({ keyId: Type.String(), keySecret: Type.String() }), Type.Null()], {
      description: 'The public credentials of the demo; null on other servers',
    }),
    otlpUrl: Type.String({
      description: 'The endpoint for OpenTelemetry SDKs, at the address that the server listens on',
    }),
    otlpGrpcPort: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The port of OTLP/gRPC; null if the server does not listen for it',
    }),
    provider: Type.Union([Type.Object({ host: Type.String() }), Type.Null()], {
      description: 'The identity provider that people sign in with at `/console/sign-in/oidc`; null without one',
    }),
    allowsKeys: Type.Boolean({ description: 'Whether the console accepts a key or token' }),
    needsSetup: Type.Boolean({
      description: 'There is no organization yet: `POST /console/setup` creates the first one',
    }),
  },
  { description: 'Console configuration, available before sign-in' },
);
