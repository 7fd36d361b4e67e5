import type { AlertRow } from '../../platform/state/tables/alert-tables.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Alert } from './alert.ts';
import type { GroupState, Groups } from './judgment.ts';
import { toGroupKey } from './judgment.ts';

const toAlert = (row: AlertRow): Alert => ({
  id: row.id,
  organizationId: row.organization_id,
  content: JSON.parse(row.document),
  state: JSON.parse(row.status),
  nextEvaluationAt: row.next_evaluation_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Ordered by id; all without a page. */
export async function listAlerts(
  db: Db,
  organizationId: string,
  page?: { limit: number; offset: number },
): Promise<Alert[]> {
  const query = db.selectFrom('alerts').selectAll().where('organization_id', '=', organizationId).orderBy('id');
  const rows = await (page ? query.limit(page.limit).offset(page.offset) : query).execute();
  return rows.map(toAlert);
}

export async function countAlerts(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('alerts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function findAlert(db: Db, organizationId: string, id: string): Promise<Alert | undefined> {
  const row = await db
    .selectFrom('alerts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toAlert(row);
}

/** Due by the clock of this node, of all organizations. */
export async function listDueAlerts(
  db: Db,
  nowMs: number,
  limit: number,
  after?: Pick<Alert, 'nextEvaluationAt' | 'id'>,
): Promise<Alert[]> {
  let query = db.selectFrom('alerts').selectAll().where('next_evaluation_at', '<=', nowMs);
  if (after)
    query = query
      .where('next_evaluation_at', '>=', after.nextEvaluationAt)
      .where((eb) => eb.or([eb('next_evaluation_at', '>', after.nextEvaluationAt), eb('id', '>', after.id)]));
  const rows = await query.orderBy('next_evaluation_at').orderBy('id').limit(limit).execute();
  return rows.map(toAlert);
}

/** All alerts are looked at now, of all organizations: their times are from before the clock was set back. */
export async function rescheduleAlerts(tx: Db, nowMs: number): Promise<void> {
  await tx.updateTable('alerts').set({ next_evaluation_at: nowMs }).where('next_evaluation_at', '>', nowMs).execute();
}

export async function putAlert(tx: Db, alert: Alert): Promise<void> {
  const { id, organizationId, content, state, nextEvaluationAt, createdAt, updatedAt } = alert;
  const row = {
    saved_search_id: content.savedSearchId,
    document: JSON.stringify(content),
    status: JSON.stringify(state),
    next_evaluation_at: nextEvaluationAt,
    updated_at: updatedAt,
  };
  await tx
    .insertInto('alerts')
    .values({ organization_id: organizationId, id, created_at: createdAt, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet(row))
    .execute();
}

/** With its groups and evaluations. */
export async function deleteAlert(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('alert_groups')
    .where('organization_id', '=', organizationId)
    .where('alert_id', '=', id)
    .execute();
  await tx
    .deleteFrom('alert_evaluations')
    .where('organization_id', '=', organizationId)
    .where('alert_id', '=', id)
    .execute();
  await tx.deleteFrom('alerts').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

export async function listSavedSearchAlerts(db: Db, organizationId: string, savedSearchId: string): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('saved_search_id', '=', savedSearchId)
    .execute();
  return rows.map(toAlert);
}

/** Those that watch a tile of the dashboard. */
export async function listTileAlerts(db: Db, organizationId: string, dashboardId: string): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('document', 'like', `%${JSON.stringify(dashboardId)}%`)
    .execute();
  return rows.map(toAlert).filter(({ content }) => content.dashboardId === dashboardId);
}

/** For people: what keeps a channel from being deleted. */
export async function listAlertsUsingChannel(db: Db, organizationId: string, channelId: string): Promise<string[]> {
  const rows = await db.selectFrom('alerts').selectAll().where('organization_id', '=', organizationId).execute();
  return rows
    .map(toAlert)
    .filter(({ content }) => content.channels.some(({ webhookId }) => webhookId === channelId))
    .map(({ id, content }) => `alert ${content.name ?? id}`);
}

/** Those whose incidents may be open in the channel: a document of theirs has its id. */
export async function listAlertsAnnouncedAt(db: Db, organizationId: string, channelId: string): Promise<Alert[]> {
  const pattern = `%${JSON.stringify(channelId)}%`;
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) =>
      eb.or([
        eb('document', 'like', pattern),
        eb('status', 'like', pattern),
        eb(
          'id',
          'in',
          eb
            .selectFrom('alert_groups')
            .select('alert_id')
            .where('organization_id', '=', organizationId)
            .where('document', 'like', pattern),
        ),
      ]),
    )
    .execute();
  return rows.map(toAlert);
}

/** A group as it is stored: as short as possible, since an alert can have 10,000. */
type StoredGroup = [labels: readonly string[], ...rest: unknown[]];

const toStored = ({
  labels,
  status,
  since,
  breached,
  missing,
  cleared,
  value,
  seenAt,
  announced,
}: GroupState): StoredGroup => [
  labels,
  status,
  since,
  breached,
  missing,
  cleared,
  value,
  seenAt,
  ...(announced ? [announced.status, announced.at, Number(announced.isShared)] : []),
];

/** Most groups were announced in the same channels: the first of them has the list, and others its number. */
function toStoredList(groups: Groups): StoredGroup[] {
  const lists = new Map<string, number>();
  return Array.from(groups.values(), (group) => {
    const channels = group.announced?.channels;
    if (!channels) return toStored(group);
    const text = channels.join();
    const known = lists.get(text);
    if (known === undefined) lists.set(text, lists.size);
    return [...toStored(group), known ?? channels];
  });
}

function fromStoredList(stored: readonly StoredGroup[]): GroupState[] {
  const lists: (readonly string[])[] = [];
  return stored.map((one) => {
    const group = fromStored(one);
    const channels = one[CHANNELS] as readonly string[] | number | undefined;
    if (typeof channels === 'object') lists.push(channels);
    if (!group.announced || channels === undefined) return group;
    return {
      ...group,
      announced: { ...group.announced, channels: typeof channels === 'number' ? lists[channels] : channels },
    };
  });
}

/** The place of the channels in a stored group. */
const CHANNELS = 11;

function fromStored([labels, ...rest]: StoredGroup): GroupState {
  const [status, since, breached, missing, cleared, value, seenAt, announced, at, isShared] = rest as [
    GroupState['status'],
    number,
    number,
    number,
    number,
    number | null,
    number,
    ('firing' | 'no_data')?,
    number?,
    number?,
  ];
  return {
    labels,
    status,
    since,
    breached,
    missing,
    cleared,
    value,
    seenAt,
    announced: announced && { status: announced, at: at ?? 0, isShared: isShared === 1 },
  };
}

export async function readGroups(db: Db, organizationId: string, alertId: string): Promise<Groups> {
  const row = await db
    .selectFrom('alert_groups')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('alert_id', '=', alertId)
    .executeTakeFirst();
  return parseGroups(row?.document ?? '[]');
}

/** The inverse of `serializeGroups`. */
export const parseGroups = (document: string): Groups =>
  new Map(fromStoredList(JSON.parse(document)).map((group) => [toGroupKey(group.labels), group]));

/** What `putGroups` stores. Apart from it, so that a transaction does not wait for 10,000 groups. */
export const serializeGroups = (groups: Groups): string => JSON.stringify(toStoredList(groups));

export async function putGroups(tx: Db, organizationId: string, alertId: string, document: string): Promise<void> {
  await tx
    .insertInto('alert_groups')
    .values({ organization_id: organizationId, alert_id: alertId, document })
    .onConflict((conflict) => conflict.columns(['organization_id', 'alert_id']).doUpdateSet({ document }))
    .execute();
}
