import type { CustomRole } from '../../kernel/access/roles.ts';
import { isUniqueViolation } from '../../platform/state/failures.ts';
import type { CustomRoleRow, Db } from '../../platform/state/tables.ts';

const toRole = ({ document }: Pick<CustomRoleRow, 'document'>): CustomRole => JSON.parse(document);

export async function listRoles(db: Db, organizationId: string): Promise<CustomRole[]> {
  const rows = await db
    .selectFrom('custom_roles')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .execute();
  return rows.map(toRole);
}

/** In the order of the store; ids that do not exist are missing. */
export async function listRolesById(db: Db, organizationId: string, ids: readonly string[]): Promise<CustomRole[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('custom_roles')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return rows.map(toRole);
}

export async function findRole(db: Db, organizationId: string, id: string): Promise<CustomRole | undefined> {
  return (await listRolesById(db, organizationId, [id]))[0];
}

export async function countRoles(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('custom_roles')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** False if another role of the organization has the name. */
export async function insertRole(tx: Db, role: CustomRole): Promise<boolean> {
  const { id, organizationId, name, createdAt } = role;
  const row = { id, organization_id: organizationId, name, created_at: createdAt, document: JSON.stringify(role) };
  return changeRoles(tx, organizationId, () => tx.insertInto('custom_roles').values(row).execute());
}

/** False if another role of the organization has the name. */
export async function updateRole(tx: Db, role: CustomRole): Promise<boolean> {
  const { id, organizationId, name, createdAt } = role;
  return changeRoles(tx, organizationId, () =>
    tx
      .updateTable('custom_roles')
      .set({ name, created_at: createdAt, document: JSON.stringify(role) })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .execute(),
  );
}

export async function deleteRole(tx: Db, { organizationId, id }: CustomRole): Promise<void> {
  await changeRoles(tx, organizationId, () =>
    tx.deleteFrom('custom_roles').where('organization_id', '=', organizationId).where('id', '=', id).execute(),
  );
}

/** Invalidates the compiled roles of the organization, on every node. */
async function changeRoles(tx: Db, organizationId: string, change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
  await tx
    .updateTable('organizations')
    .set((eb) => ({ role_revision: eb('role_revision', '+', 1) }))
    .where('id', '=', organizationId)
    .execute();
  return true;
}
