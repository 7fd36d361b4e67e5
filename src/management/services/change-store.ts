import { sql } from 'kysely';
import { lockRows } from '../../platform/state/locking.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { ChangedRow } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Organization, Tier } from '../organizations/organization.ts';
import type { Service } from './service.ts';
import { toDocument, toNextGeneration, toService } from './store.ts';

const selectAndLock = prepared((db: Db, value: ChangedRow) =>
  lockRows(
    db,
    db
      .selectFrom('organizations')
      .innerJoin('services', 'services.organization_id', 'organizations.id')
      .select([
        'organizations.tier',
        'organizations.paid',
        'services.id',
        'services.organization_id',
        'services.document',
        'services.observed',
        'services.generation',
        'services.settled_generation',
      ])
      .where('organizations.id', '=', value.organizationId)
      .where('services.id', '=', value.id),
  ),
);

/**
 * Locks the rows of the organization and the service until the transaction ends. Both, so that PostgreSQL returns the
 * service as the previous transaction left it, and not as it was when the wait started.
 */
export async function lockService(tx: Db, organizationId: string, id: string): Promise<LockedService | undefined> {
  const row = await selectAndLock.first(tx, { organizationId, id });
  return row && { organization: { tier: row.tier as Tier, isPaid: row.paid === 1 }, service: toService(tx, row) };
}

export interface LockedService {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: Readonly<Service>;
}

/** Stores the desired state. Does not update `created_at`, so no index changes. */
export const updateDocument = (tx: Db, service: Readonly<Service>): Promise<void> =>
  setDocuments(tx, [
    {
      organizationId: service.organizationId,
      id: service.id,
      document: toDocument(tx, service),
      generation: toNextGeneration(service),
    },
  ]);

interface ChangedDocument extends ChangedRow {
  document: string;
  generation: number;
}

const setDocuments = preparedRows<ChangedDocument>(['organizationId', 'id', 'document', 'generation'], (db, rows) => {
  const [only] = rows;
  return only && rows.length === 1 ? setDocument(db, only) : setEach(db, rows);
});

const setDocument = (db: Db, { organizationId, id, document, generation }: ChangedDocument) =>
  db
    .updateTable('services')
    .set({ document, generation })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id);

const setEach = (db: Db, rows: readonly ChangedDocument[]) => ({
  compile: () =>
    sql<never>`UPDATE services SET document = changed.column3, generation = changed.column4
      FROM (VALUES ${sql.join(rows.map(toValues))}) AS changed
      WHERE services.organization_id = changed.column1 AND services.id = changed.column2`.compile(db),
});

const toValues = ({ organizationId, id, document, generation }: ChangedDocument) =>
  sql`(${organizationId}, ${id}, ${document}, CAST(${generation} AS BIGINT))`;
