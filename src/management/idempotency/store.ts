import type { CallerKey, KeptResponse } from '../../kernel/kept-response.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { open, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { Db } from '../../platform/state/tables.ts';

const select = prepared((db: Db, value: CallerKey & { after: number }) =>
  db
    .selectFrom('idempotent_responses')
    .select(['request_hash', 'result', 'headers'])
    .where('organization_id', '=', value.organizationId)
    .where('credential_id', '=', value.credentialId)
    .where('key_hash', '=', value.keyHash)
    .where('created_at', '>', value.after),
);

const toColumns = ({ organizationId, credentialId, keyHash }: CallerKey) => ({
  organization_id: organizationId,
  credential_id: credentialId,
  key_hash: keyHash,
});

/** Undefined if there is none that was stored after the time. */
export async function findResponse(db: Db, key: CallerKey, after: number): Promise<KeptResponse | undefined> {
  const row = await select.first(db, { ...key, after });
  if (!row) return undefined;
  const result = row.result === null ? undefined : open(db, 'idempotent_responses', toColumns(key), row.result);
  return { requestHash: row.request_hash, result, headers: JSON.parse(row.headers) };
}

/** Replaces only a response that was stored before `after`. Returns false if there is a newer one. */
export async function insertResponse(
  tx: Db,
  key: CallerKey,
  { requestHash, result, headers }: KeptResponse,
  { now, after }: { now: number; after: number },
): Promise<boolean> {
  const columns = toColumns(key);
  const values = {
    request_hash: requestHash,
    created_at: now,
    result: result === undefined ? null : seal(tx, 'idempotent_responses', columns, result),
    headers: JSON.stringify(headers),
  };
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('idempotent_responses')
    .values({ ...columns, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'credential_id', 'key_hash'])
        .doUpdateSet(values)
        .where('idempotent_responses.created_at', '<=', after),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** In every organization. */
export async function deleteResponses(tx: Db, before: number): Promise<void> {
  await tx.deleteFrom('idempotent_responses').where('created_at', '<=', before).execute();
}
