import { prepared } from '../platform/state/prepared.ts';
import type { ConsoleSessionRow } from '../platform/state/tables/member-tables.ts';
import type { Db } from '../platform/state/tables.ts';
import type { Session, SessionKind } from './session.ts';

const toSession = (row: ConsoleSessionRow): Session => ({
  hash: row.session_hash,
  organizationId: row.organization_id,
  kind: row.kind as SessionKind,
  credentialId: row.credential_id,
  secretHash: row.secret_hash,
  createdAt: row.created_at,
  seenAt: row.seen_at,
  expiresAt: row.expires_at,
  providerSession: row.provider_session,
  authenticatedAt: row.authenticated_at,
  refreshedAt: row.refreshed_at,
  details: JSON.parse(row.document),
});

const selectByHash = prepared((db: Db, value: { hash: string }) =>
  db.selectFrom('console_sessions').selectAll().where('session_hash', '=', value.hash),
);

/** Not limited to an organization: the session determines the organization of the request. */
export const findSession = (db: Db, hash: string): Promise<Session | undefined> =>
  selectByHash.firstCached(db, { hash }, toSession);

export async function insertSession(tx: Db, session: Session): Promise<void> {
  await tx
    .insertInto('console_sessions')
    .values({
      session_hash: session.hash,
      organization_id: session.organizationId,
      kind: session.kind,
      credential_id: session.credentialId,
      secret_hash: session.secretHash,
      created_at: session.createdAt,
      seen_at: session.seenAt,
      expires_at: session.expiresAt,
      provider_session: session.providerSession,
      authenticated_at: session.authenticatedAt,
      refreshed_at: session.refreshedAt,
      document: JSON.stringify(session.details),
    })
    .execute();
}

/** The cookie alone is enough to end a session. Returns false if there is no such session. */
export async function deleteSession(tx: Db, hash: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('console_sessions')
    .where('session_hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Newest first. Those of one organization, or of all: a person signs in to one at a time. */
export async function listSessions(db: Db, credentialId: string, organizationId?: string): Promise<Session[]> {
  let query = db.selectFrom('console_sessions').selectAll().where('credential_id', '=', credentialId);
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  return (await query.orderBy('created_at', 'desc').execute()).map(toSession);
}

/** Not limited to an organization: the identity provider ended its session, whatever it was used for. */
export async function listProviderSessions(db: Db, providerSession: string): Promise<Session[]> {
  const rows = await db
    .selectFrom('console_sessions')
    .selectAll()
    .where('provider_session', '=', providerSession)
    .execute();
  return rows.map(toSession);
}

/** The provider is asked about the sessions with their next request. */
export async function expireRefresh(tx: Db, providerSession: string): Promise<void> {
  await tx
    .updateTable('console_sessions')
    .set({ refreshed_at: 0 })
    .where('provider_session', '=', providerSession)
    .execute();
}

/** Returns false if the token was used before. */
export async function insertUsedToken(tx: Db, hash: string, expiresAt: number, now: number): Promise<boolean> {
  await tx.deleteFrom('used_tokens').where('expires_at', '<=', now).execute();
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('used_tokens')
    .values({ token_hash: hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('token_hash').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** Returns false if another process has claimed the refresh meanwhile. */
export async function claimRefresh(tx: Db, { hash, refreshedAt }: Session, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('console_sessions')
    .set({ refreshed_at: now })
    .where('session_hash', '=', hash)
    .where('refreshed_at', '=', refreshedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function updateRefresh(
  tx: Db,
  { hash, refreshedAt, details }: Pick<Session, 'hash' | 'refreshedAt' | 'details'>,
): Promise<void> {
  await tx
    .updateTable('console_sessions')
    .set({ refreshed_at: refreshedAt, document: JSON.stringify(details) })
    .where('session_hash', '=', hash)
    .execute();
}

export async function updateSessionOrganization(tx: Db, hash: string, organizationId: string): Promise<void> {
  await tx
    .updateTable('console_sessions')
    .set({ organization_id: organizationId })
    .where('session_hash', '=', hash)
    .execute();
}

/** In every organization. */
export async function deleteEndedSessions(tx: Db, now: number): Promise<void> {
  await tx.deleteFrom('console_sessions').where('expires_at', '<=', now).execute();
}

/** Deletes all but the newest `retained` sessions of a credential. */
export async function deleteOldestSessions(
  tx: Db,
  organizationId: string,
  credentialId: string,
  retained: number,
): Promise<void> {
  const beyond = await tx
    .selectFrom('console_sessions')
    .select('created_at')
    .where('organization_id', '=', organizationId)
    .where('credential_id', '=', credentialId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .offset(retained)
    .executeTakeFirst();
  if (!beyond) return;
  await tx
    .deleteFrom('console_sessions')
    .where('organization_id', '=', organizationId)
    .where('credential_id', '=', credentialId)
    .where('created_at', '<=', beyond.created_at)
    .execute();
}

/** The only row. */
const COOKIE_ROW = 1;

export async function findCookieSuffix(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('session_cookies').select('suffix').where('id', '=', COOKIE_ROW).executeTakeFirst();
  return row?.suffix;
}

/** Keeps a suffix that is stored already. */
export async function insertCookieSuffix(tx: Db, suffix: string): Promise<void> {
  await tx
    .insertInto('session_cookies')
    .values({ id: COOKIE_ROW, suffix })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
