import type { TokenAccess } from '../../../kernel/access/roles.ts';
import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import { deleteToken, insertToken, listTokens, updateToken } from '../../../observability/tokens/store.ts';
import { DEFAULT_ACCESS, type Token } from '../../../observability/tokens/token.ts';
import type { Kind } from './kind.ts';

export const tokenKind: Kind<Token> = {
  name: 'token',
  activities: {
    create: 'dashboard_token_create',
    update: () => 'dashboard_token_update',
    remove: 'dashboard_token_delete',
  },

  async load(tx, organizationId) {
    return new Map((await listTokens(tx, organizationId)).map((token) => [token.id, token]));
  },

  toFields: ({ name, access, tokenHash, tokenSuffix, expireAt, createdAt }) => ({
    name,
    access,
    tokenHash,
    tokenSuffix,
    expireAt: expireAt === undefined ? '' : isoTime(expireAt),
    createdAt: isoTime(createdAt),
  }),

  defaults: (_fields, { now }) => ({ access: DEFAULT_ACCESS, tokenSuffix: '', expireAt: '', createdAt: isoTime(now) }),

  build: (id, fields, { organization }, before) => ({
    id,
    organizationId: organization.id,
    name: String(fields.name),
    access: fields.access as TokenAccess,
    tokenHash: String(fields.tokenHash),
    tokenSuffix: String(fields.tokenSuffix),
    createdAt: parseDateTime(String(fields.createdAt), { offset: 'required' }) ?? 0,
    expireAt: parseDateTime(String(fields.expireAt), { offset: 'required' }),
    usedAt: before?.usedAt,
  }),

  violations: () => [],

  async save(tx, pairs) {
    for (const { before, after } of pairs) await (before ? updateToken(tx, after) : insertToken(tx, after));
  },

  remove: (tx, token) => deleteToken(tx, token.organizationId, token.id),
};
