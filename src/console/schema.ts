import Type from 'typebox';
import { DASHBOARD_ACCESSES } from '../kernel/access/roles.ts';
import { NamedObject } from '../kernel/schemas/named-object.ts';
import { TIERS } from '../management/organizations/organization.ts';
import { DRIVER_NAMES } from '../management/services/driver.ts';
import { SESSION_KINDS } from './session.ts';

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
      roles: Type.Array(Type.String(), { description: 'The names of the roles of the key; empty for a token' }),
    }),
    operations: Type.Array(Type.String(), {
      description: 'The ids of the operations that the key may use, for at least one service; empty for a token',
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

export const SignedOut = Type.Object({}, { description: 'Signed out' });

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
    needsSetup: Type.Boolean({
      description: 'There is no organization yet: `POST /console/setup` creates the first one',
    }),
  },
  { description: 'Console configuration, available before sign-in' },
);
