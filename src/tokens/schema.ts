import Type, { type Static } from 'typebox';
import { isoSeconds, isoTime } from '../kernel/clock.ts';
import { CredentialName, ExpireAt } from '../keys/schema.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { TOKEN_ACCESSES, type Token } from './token.ts';

export const TokenPath = Type.Object({ ...OrganizationPath.properties, tokenId: Type.String({ format: 'uuid' }) });

const Access = Type.Enum([...TOKEN_ACCESSES], { description: 'read when left out; write may also read' });

export const CreateTokenBody = Type.Object({
  name: Type.Optional(CredentialName),
  access: Type.Optional(Access),
  expireAt: Type.Optional(ExpireAt),
});

export const TokenRecord = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  access: Type.Enum([...TOKEN_ACCESSES]),
  tokenSuffix: Type.String({ description: 'The last characters of the token; empty for a short one' }),
  createdAt: Type.String({ format: 'date-time' }),
  expireAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'null: never' }),
  usedAt: Type.Optional(Type.String({ format: 'date-time', description: 'To the minute; absent until the first use' })),
});

export const CreateTokenResult = Type.Object({
  dashboardToken: TokenRecord,
  token: Type.String({ description: 'The Bearer token; shown once' }),
});

/** As everybody may see it who may see the token at all. */
export function tokenRecord(token: Token): Static<typeof TokenRecord> {
  const { id, name, access, tokenSuffix, createdAt, expireAt, usedAt } = token;
  return {
    id,
    name,
    access,
    tokenSuffix,
    createdAt: isoSeconds(createdAt),
    expireAt: expireAt === undefined ? null : isoTime(expireAt),
    ...(usedAt === undefined ? {} : { usedAt: isoSeconds(usedAt) }),
  };
}
