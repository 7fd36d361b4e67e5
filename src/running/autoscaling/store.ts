import type { Page, PageRequest } from '../../kernel/page.ts';
import { HOUR_MS } from '../../kernel/time/clock.ts';
import { lockRows } from '../../platform/state/locking.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { AutoscalingDecisionRow, Db, ServiceLoadRow } from '../../platform/state/tables.ts';
import { isIn } from '../../platform/state/value-lists.ts';
import type { LoadSample } from './load.ts';
import type { StoredDecision } from './recorded-decision.ts';
import { mergeSamples, parseSamples, toHour } from './sample-format.ts';

/** The samples of one service. */
export interface ServiceSamples {
  organizationId: string;
  serviceId: string;
  samples: readonly LoadSample[];
}

const putRows = preparedRows<ServiceLoadRow>(['organization_id', 'service_id', 'hour', 'samples'], (db, rows) =>
  db
    .insertInto('service_load')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'service_id', 'hour'])
        .doUpdateSet((eb) => ({ samples: eb.ref('excluded.samples') })),
    ),
);

/** Adds samples of many services of one organization. */
export async function addSamples(
  tx: Db,
  organizationId: string,
  added: readonly Omit<ServiceSamples, 'organizationId'>[],
): Promise<void> {
  const groups = new Map<string, { serviceId: string; hour: number; samples: LoadSample[] }>();
  for (const { serviceId, samples } of added)
    for (const sample of samples) {
      const hour = toHour(sample.at);
      const key = `${serviceId} ${hour}`;
      const group = groups.get(key) ?? { serviceId, hour, samples: [] };
      groups.set(key, group);
      group.samples.push(sample);
    }
  if (groups.size === 0) return;
  const hours = [...groups.values()].map(({ hour }) => hour);
  const serviceIds = new Set(added.map(({ serviceId }) => serviceId));
  const stored = await lockRows(
    tx,
    tx
      .selectFrom('service_load')
      .select(['service_id', 'hour', 'samples'])
      .where('organization_id', '=', organizationId)
      .where('hour', '>=', Math.min(...hours))
      .where('hour', '<=', Math.max(...hours))
      .where(isIn(tx, 'service_id', serviceIds)),
  ).execute();
  const texts = new Map(stored.map(({ service_id, hour, samples }) => [`${service_id} ${hour}`, samples]));
  await putRows(
    tx,
    [...groups].map(([key, { serviceId, hour, samples }]) => ({
      organization_id: organizationId,
      service_id: serviceId,
      hour,
      samples: mergeSamples(texts.get(key), samples),
    })),
  );
}

/** The samples with `from <= at < to`, in the order of their time, one hour at a time. */
export async function listSamplesByHour(
  db: Db,
  organizationId: string,
  serviceId: string,
  from: number,
  to: number,
): Promise<LoadSample[][]> {
  const rows = await db
    .selectFrom('service_load')
    .select(['hour', 'samples'])
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .where('hour', '>', from - HOUR_MS)
    .where('hour', '<', to)
    .orderBy('hour')
    .execute();
  return rows.map(({ hour, samples }) => parseSamples(samples, hour).filter(({ at }) => at >= from && at < to));
}

/** The samples of several services since a time, by service, in the order of their time. */
export async function listRecentSamples(
  db: Db,
  organizationId: string,
  serviceIds: Iterable<string>,
  from: number,
): Promise<Map<string, LoadSample[]>> {
  const rows = await db
    .selectFrom('service_load')
    .select(['service_id', 'hour', 'samples'])
    .where('organization_id', '=', organizationId)
    .where('hour', '>', from - HOUR_MS)
    .where(isIn(db, 'service_id', serviceIds))
    .orderBy('hour')
    .execute();
  const found = new Map<string, LoadSample[]>();
  for (const { service_id, hour, samples } of rows) {
    const list = found.get(service_id) ?? [];
    found.set(service_id, list);
    for (const sample of parseSamples(samples, hour)) if (sample.at >= from) list.push(sample);
  }
  return found;
}

const toDecision = ({ id, created_at, is_applied, document }: DecisionColumns): StoredDecision => ({
  ...JSON.parse(document),
  id,
  at: created_at,
  isApplied: is_applied === 1,
});

const DECISION_COLUMNS = ['id', 'created_at', 'is_applied', 'document'] as const;
type DecisionColumns = Pick<AutoscalingDecisionRow, (typeof DECISION_COLUMNS)[number]>;

export async function insertDecision(
  tx: Db,
  organizationId: string,
  serviceId: string,
  { id, at, isApplied, ...document }: StoredDecision,
): Promise<void> {
  await tx
    .insertInto('autoscaling_decisions')
    .values({
      organization_id: organizationId,
      service_id: serviceId,
      id,
      created_at: at,
      is_applied: isApplied ? 1 : 0,
      document: JSON.stringify(document),
    })
    .execute();
}

const selectDecisions = (db: Db, organizationId: string, serviceId: string) =>
  db
    .selectFrom('autoscaling_decisions')
    .select(DECISION_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .orderBy('id', 'desc');

/** Newest first. The position of a page is the id of its last decision. */
export async function listDecisionPage(
  db: Db,
  organizationId: string,
  serviceId: string,
  { limit, after }: PageRequest,
): Promise<Page<StoredDecision>> {
  const query = selectDecisions(db, organizationId, serviceId).limit(limit + 1);
  const rows = await (after ? query.where('id', '<', String(after[0])) : query).execute();
  const items = rows.slice(0, limit).map(toDecision);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? [last.id] : undefined };
}

/** The newest decisions with `from <= at < to`, oldest first. */
export async function listDecisionsBetween(
  db: Db,
  organizationId: string,
  serviceId: string,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<StoredDecision[]> {
  const rows = await selectDecisions(db, organizationId, serviceId)
    .where('created_at', '>=', from)
    .where('created_at', '<', to)
    .limit(limit)
    .execute();
  return rows.map(toDecision).reverse();
}

/** The newest decision, or the newest one that was applied. */
export async function findLastDecision(
  db: Db,
  organizationId: string,
  serviceId: string,
  { isApplied }: { isApplied?: true } = {},
): Promise<StoredDecision | undefined> {
  const query = selectDecisions(db, organizationId, serviceId).limit(1);
  const row = await (isApplied ? query.where('is_applied', '=', 1) : query).executeTakeFirst();
  return row && toDecision(row);
}

/** In every organization. */
export async function deleteOldRows(tx: Db, before: number): Promise<void> {
  await tx
    .deleteFrom('service_load')
    .where('hour', '<=', before - HOUR_MS)
    .execute();
  await tx.deleteFrom('autoscaling_decisions').where('created_at', '<', before).execute();
}
