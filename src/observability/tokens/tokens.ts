import type { TokenAccess } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import { assertMayHandOut, assertMayManage } from '../../management/hand-outs/hand-out.ts';
import { getTokenPolicies, type Rights } from '../../management/hand-outs/rights.ts';
import type { Limited } from '../../management/keys/assigned-roles.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { formatExpiry, parseFutureExpiry } from '../../platform/credentials/expiry.ts';
import { hashSecret, newToken, toSuffix } from '../../platform/credentials/secrets.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { countTokens, deleteToken, findTokenWithRevisions, insertToken, listTokens, updateToken } from './store.ts';
import { DEFAULT_ACCESS, DEFAULT_TOKEN_NAME, type Token } from './token.ts';

/** The fields of a token that a client can set. */
interface TokenFields {
  name?: string | undefined;
  access?: TokenAccess | undefined;
  /** ISO 8601 with an offset; null or empty: never. */
  expireAt?: string | null | undefined;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  /** Per organization. Tokens of a fleet file are not limited. */
  maxTokens?: number | undefined;
}

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ state, clock, audit, organizations, maxTokens = Number.POSITIVE_INFINITY }: Options) {
  async function get(tx: Db, organizationId: string, id: string): Promise<Token> {
    const found = await findTokenWithRevisions(tx, organizationId, id);
    if (!found) throw new AppError('not_found', `token ${id} does not exist`);
    return found.credential;
  }

  return {
    /** Returns the text of the token once; only its hash is stored. */
    async create(
      actor: Actor,
      organizationId: string,
      { name = DEFAULT_TOKEN_NAME, access = DEFAULT_ACCESS, expireAt, caller }: TokenFields & Limited,
      inTransaction?: InTransaction<Token>,
    ): Promise<{ token: Token; text: string }> {
      assertMayHandOut(caller, toRights(access), describe(access));
      const text = newToken();
      const token: Token = {
        id: newUuid(),
        organizationId,
        name,
        access,
        tokenHash: hashSecret(text),
        tokenSuffix: toSuffix(text),
        createdAt: clock.now(),
        expireAt: parseFutureExpiry(expireAt, clock.now()),
        usedAt: undefined,
      };
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        if ((await countTokens(tx, organizationId)) >= maxTokens)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${maxTokens} dashboard tokens; delete one first`,
          );
        await insertToken(tx, token);
        const after = toAuditFields(token);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_token_create',
          resource: { type: 'token', id: token.id },
          after,
        });
        await inTransaction?.(tx, token);
      });
      return { token, text };
    },

    /** Omitted fields keep their value. The text of the token stays the same. */
    async update(actor: Actor, organizationId: string, id: string, fields: TokenFields & Limited): Promise<Token> {
      const expireAt = parseFutureExpiry(fields.expireAt, clock.now());
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const after: Token = {
          ...before,
          name: fields.name ?? before.name,
          access: fields.access ?? before.access,
          expireAt: fields.expireAt === undefined ? before.expireAt : expireAt,
        };
        assertMayManage(fields.caller, toRights(before.access), describe(before.access));
        assertMayHandOut(fields.caller, toRights(after.access), describe(after.access));
        const changed = difference(toAuditFields(before), toAuditFields(after));
        if (Object.keys({ ...changed.before, ...changed.after }).length === 0) return before;
        await updateToken(tx, after);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_token_update',
          resource: { type: 'token', id },
          ...changed,
        });
        return after;
      });
    },

    /** The token is rejected from the next request on. */
    async remove(actor: Actor, organizationId: string, id: string, { caller }: Limited): Promise<Token> {
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const token = await get(tx, organizationId, id);
        assertMayManage(caller, toRights(token.access), describe(token.access));
        await deleteToken(tx, organizationId, id);
        const before = toAuditFields(token);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_token_delete',
          resource: { type: 'token', id },
          before,
        });
        return token;
      });
    },

    list: (organizationId: string): Promise<Token[]> => listTokens(state.db, organizationId),
  };
}

const toRights = (access: TokenAccess): Rights => ({ roles: [], customRoles: [getTokenPolicies(access)] });
const describe = (access: TokenAccess): string => `A dashboard token with ${access} access`;

/** The fields of a token that the audit log may contain. */
function toAuditFields({ name, access, tokenSuffix, expireAt }: Token) {
  return { name, access, tokenSuffix, expireAt: formatExpiry(expireAt) };
}
