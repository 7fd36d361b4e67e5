import Type, { type Static } from 'typebox';
import { TOKEN_ACCESSES } from '../../kernel/access/roles.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { type Clock, isoSeconds } from '../../kernel/time/clock.ts';
import { CredentialName, CredentialTimes, FutureExpiry } from '../../management/keys/schema.ts';
import { OrganizationPath } from '../../management/organizations/schema.ts';
import { formatExpiry } from '../../platform/credentials/expiry.ts';
import type { Token } from './token.ts';

export const TokenPath = Type.Object({ ...OrganizationPath.properties, tokenId: Type.String({ format: 'uuid' }) });

const Access = Type.Enum([...TOKEN_ACCESSES], { description: 'Defaults to read; write includes read' });

export const CreateTokenBody = (clock: Clock) =>
  NamedObject('DashboardTokenPostRequest', {
    name: Type.Optional(CredentialName),
    access: Type.Optional(Access),
    expireAt: Type.Optional(FutureExpiry(clock)),
  });

export const UpdateTokenBody = (clock: Clock) =>
  NamedObject('DashboardTokenPatchRequest', {
    name: Type.Optional(CredentialName),
    access: Type.Optional(Type.Enum([...TOKEN_ACCESSES], { description: 'write includes read' })),
    expireAt: Type.Optional(FutureExpiry(clock)),
  });

export const TokenRecord = NamedObject('DashboardToken', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  access: Type.Enum([...TOKEN_ACCESSES]),
  tokenSuffix: Type.String({ description: 'The last four characters of the token; empty for a short token' }),
  ...CredentialTimes,
});

export const CreateTokenResult = NamedObject('DashboardTokenPostResponse', {
  dashboardToken: TokenRecord,
  token: Type.Optional(
    Type.String({ description: 'The bearer token; returned once, absent when a response is replayed' }),
  ),
});

/** The public fields of a token. */
export function toTokenRecord(token: Token): Static<typeof TokenRecord> {
  const { id, name, access, tokenSuffix, createdAt, expireAt, usedAt } = token;
  return {
    id,
    name,
    access,
    tokenSuffix,
    createdAt: isoSeconds(createdAt),
    expireAt: formatExpiry(expireAt),
    ...(usedAt === undefined ? {} : { usedAt: isoSeconds(usedAt) }),
  };
}
