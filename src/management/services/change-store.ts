import { sql } from 'kysely';
import { deferToCommit, groupedRead } from '../../platform/state/grouped-statements.ts';
import { lockRows } from '../../platform/state/locking.ts';
import { prepared } from '../../platform/state/prepared.ts';
import type { ChangedRow } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Organization, Tier } from '../organizations/organization.ts';
import type { Service } from './service.ts';
import { type StoredService, toDocument, toNextGeneration, toService } from './store.ts';

const selectWithOrganization = (db: Db, organizationId: string) =>
  db
    .selectFrom('organizations')
    .innerJoin('services', 'services.organization_id', 'organizations.id')
    .select([
      'organizations.tier',
      'organizations.paid',
      'services.document',
      'services.observed',
      'services.generation',
      'services.settled_generation',
    ])
    .where('organizations.id', '=', organizationId);

const selectAndLock = prepared((db: Db, value: ChangedRow) =>
  lockRows(db, selectWithOrganization(db, value.organizationId).where('services.id', '=', value.id)),
);

const selectAndLockAll = prepared((db: Db, value: { organizationId: string; ids: readonly string[] }) =>
  lockRows(
    db,
    selectWithOrganization(db, value.organizationId)
      .select('services.id')
      .where(sql<boolean>`services.id = ANY(${value.ids}::text[])`),
  ),
);

/**
 * Locks the rows of the organization and the service until the transaction ends. Both, so that PostgreSQL returns the
 * service as the previous transaction left it, and not as it was when the wait started.
 */
export const lockService = (tx: Db, organizationId: string, id: string): Promise<LockedService | undefined> =>
  lockTogether(tx, { organizationId, id });

const lockTogether = groupedRead(
  async (tx: Db, row: ChangedRow) => {
    const found = await selectAndLock.first(tx, row);
    return found && toLocked(found);
  },
  async (tx, rows) => {
    const [first] = rows;
    if (!first) return [];
    const ids = rows.map(({ id }) => id);
    const found = await selectAndLockAll.all(tx, { organizationId: first.organizationId, ids });
    const locked = new Map(found.map((row) => [row.id, toLocked(row)]));
    return ids.map((id) => locked.get(id));
  },
);

const toLocked = (row: StoredService & { tier: string; paid: number }): LockedService => ({
  organization: { tier: row.tier as Tier, isPaid: row.paid === 1 },
  service: toService(row),
});

export interface LockedService {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: Readonly<Service>;
}

/** Stores the desired state. Does not update `created_at`, so no index changes. */
export async function updateDocument(tx: Db, service: Readonly<Service>): Promise<void> {
  const { organizationId, id } = service;
  const changed = { organizationId, id, document: toDocument(service), generation: toNextGeneration(service) };
  if (!(await deferToCommit(tx, setDocuments, changed))) await setDocument.first(tx, changed);
}

type ChangedDocument = ChangedRow & { document: string; generation: number };

async function setDocuments(tx: Db, changed: readonly ChangedDocument[]): Promise<void> {
  const [first] = changed;
  if (first && changed.length === 1) await setDocument.first(tx, first);
  else
    await setAllDocuments.execute(tx, {
      organizationIds: changed.map(({ organizationId }) => organizationId),
      ids: changed.map(({ id }) => id),
      documents: changed.map(({ document }) => document),
      generations: changed.map(({ generation }) => generation),
    });
}

const setAllDocuments = prepared(
  (db: Db, value: { organizationIds: string[]; ids: string[]; documents: string[]; generations: number[] }) => ({
    compile: () =>
      sql<never>`UPDATE services SET document = changed.document, generation = changed.generation
        FROM unnest(${value.organizationIds}::text[], ${value.ids}::text[], ${value.documents}::text[], ${value.generations}::bigint[])
          AS changed (organization_id, id, document, generation)
        WHERE services.organization_id = changed.organization_id AND services.id = changed.id`.compile(db),
  }),
);

const setDocument = prepared((db: Db, value: ChangedDocument) =>
  db
    .updateTable('services')
    .set({ document: value.document, generation: value.generation })
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);
