import type { Db } from '../state/tables.ts';
import type { Fields } from './resource.ts';

/** Blocks every other apply until the transaction ends. */
export async function lockFleet(tx: Db): Promise<void> {
  await tx
    .updateTable('fleet_turns')
    .set((eb) => ({ turn: eb('turn', '+', 1) }))
    .where('id', '=', 1)
    .execute();
}

export interface AppliedDocument {
  kind: string;
  id: string;
  fields: Fields;
}

export async function listDocuments(tx: Db, organizationId: string): Promise<AppliedDocument[]> {
  const rows = await tx
    .selectFrom('fleet_documents')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .execute();
  return rows.map(({ kind, id, document }) => ({ kind, id, fields: JSON.parse(document) }));
}

const ROWS_PER_INSERT = 1000;

export async function putDocuments(
  tx: Db,
  organizationId: string,
  documents: readonly AppliedDocument[],
): Promise<void> {
  for (let start = 0; start < documents.length; start += ROWS_PER_INSERT) {
    const rows = documents
      .slice(start, start + ROWS_PER_INSERT)
      .map(({ kind, id, fields }) => ({ organization_id: organizationId, kind, id, document: JSON.stringify(fields) }));
    await tx
      .insertInto('fleet_documents')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['organization_id', 'kind', 'id'])
          .doUpdateSet((eb) => ({ document: eb.ref('excluded.document') })),
      )
      .execute();
  }
}

export async function deleteDocument(tx: Db, organizationId: string, kind: string, id: string): Promise<void> {
  await tx
    .deleteFrom('fleet_documents')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute();
}
