import { preparedRows } from '../../platform/state/prepared-rows.ts';
import { open, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { Db, Tables } from '../../platform/state/tables.ts';
import type { Declared, Fields } from './declared.ts';

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
  return rows.map(({ document, ...row }) => ({
    kind: row.kind,
    id: row.id,
    fields: JSON.parse(open(tx, 'fleet_documents', row, document)),
  }));
}

/** The organizations with a document whose kind starts with `prefix`. */
export async function listOrganizationsWithDocuments(tx: Db, prefix: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('fleet_documents')
    .select('organization_id')
    .distinct()
    .where('kind', 'like', `${prefix}%`)
    .execute();
  return rows.map((row) => row.organization_id);
}

/** Whether a file declares the organization itself. */
export async function isOrganizationDeclared(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('fleet_documents')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', 'organization')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  return row !== undefined;
}

const putRows = preparedRows<Tables['fleet_documents']>(['organization_id', 'kind', 'id', 'document'], (db, rows) =>
  db
    .insertInto('fleet_documents')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'kind', 'id'])
        .doUpdateSet((eb) => ({ document: eb.ref('excluded.document') })),
    ),
);

/** Remembers the declarations that are not among `documents`. `prefix` is that of the kinds. */
export async function putNewDocuments(
  tx: Db,
  organizationId: string,
  declared: readonly Declared[],
  documents: readonly AppliedDocument[],
  prefix = '',
): Promise<void> {
  const applied = new Map(documents.map(({ kind, id, fields }) => [`${kind} ${id}`, JSON.stringify(fields)]));
  const wanted = declared.map(({ kind, id, fields }) => ({ kind: prefix + kind, id, fields }));
  const changed = wanted.filter(({ kind, id, fields }) => applied.get(`${kind} ${id}`) !== JSON.stringify(fields));
  await putRows(
    tx,
    changed.map(({ kind, id, fields }) => {
      const key = { organization_id: organizationId, kind, id };
      return { ...key, document: seal(tx, 'fleet_documents', key, JSON.stringify(fields)) };
    }),
  );
}

export async function deleteDocument(tx: Db, organizationId: string, kind: string, id: string): Promise<void> {
  await tx
    .deleteFrom('fleet_documents')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute();
}
