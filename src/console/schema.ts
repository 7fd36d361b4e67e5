import Type from 'typebox';
import { TIERS } from '../organizations/organization.ts';
import { ACCESSES, SESSION_KINDS } from './session.ts';

const MAX_CREDENTIAL_CHARACTERS = 4096;
const Credential = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CREDENTIAL_CHARACTERS, description }));

export const SignInBody = Type.Object(
  {
    keyId: Credential('With keySecret: signs in with a key'),
    keySecret: Credential('With keyId'),
    token: Credential('Instead of both: signs in with a dashboard token, for dashboards only'),
  },
  { description: 'A key id with its secret, or a dashboard token' },
);

export const SessionRecord = Type.Object(
  {
    csrf: Type.String({ description: 'To be sent as x-pilothouse-csrf with every request that uses the cookie' }),
    kind: Type.Enum([...SESSION_KINDS]),
    organization: Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      tier: Type.Enum([...TIERS]),
      paid: Type.Boolean({ description: 'Which sizes its services may have depends on it' }),
    }),
    credential: Type.Object({
      id: Type.String(),
      name: Type.String(),
      roles: Type.Array(Type.String(), { description: 'Of the key; a token has none' }),
    }),
    address: Type.String({ description: 'Where the request came from, as the address list of a key sees it' }),
    access: Type.Enum([...ACCESSES], { description: 'What may be done with dashboards' }),
    expiresAt: Type.String({ format: 'date-time', description: 'It ends earlier after two hours without a request' }),
  },
  { description: 'Signed in' },
);

export const SignedOut = Type.Object({}, { description: 'Nobody is signed in any more' });

export const ConsoleConfig = Type.Object(
  {
    basePath: Type.String({ description: 'What stands before every path; empty at the root' }),
    version: Type.String(),
    demo: Type.Union([Type.Object({ keyId: Type.String(), keySecret: Type.String() }), Type.Null()], {
      description: 'The public credentials of the demo; null on any other server',
    }),
  },
  { description: 'What the console needs to know before anybody has signed in' },
);
