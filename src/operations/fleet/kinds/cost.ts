import { MISSING, type Violation } from '../../../kernel/errors.ts';
import { chcFromMicros, microsFromChc } from '../../../kernel/numbers/money.ts';
import type { Cost } from '../../../management/billing/cost.ts';
import type { EntityType } from '../../../management/billing/entity.ts';
import { METRICS, type Metric } from '../../../management/billing/meter.ts';
import { deleteCost, listCosts, listMeteredRecords, putCosts } from '../../../management/billing/store.ts';
import { bumpCostRevision } from '../../../management/organizations/store.ts';
import type { Fields } from '../declared.ts';
import { type Context, groupByWarehouse, type Kind } from './kind.ts';

/** A record and whether metering maintains it. */
interface DeclaredCost extends Cost {
  isMetered?: boolean;
}

export const costKind: Kind<DeclaredCost> = {
  name: 'cost',
  activities: { bulk: 'usage_cost_import' },

  async load(tx, organizationId, declared) {
    const dates = declared.map(({ fields }) => String(fields.date)).sort();
    const [first, last] = [dates[0], dates.at(-1)];
    if (first === undefined || last === undefined) return new Map();
    const window = { from: first, to: last };
    const metered = await listMeteredRecords(tx, organizationId, window);
    return new Map(
      (await listCosts(tx, organizationId, window)).map((cost) => {
        const id = `${cost.date} ${cost.entityType} ${cost.entityId}`;
        return [id, { ...cost, isMetered: metered.has(id) }];
      }),
    );
  },

  toFields: ({ date, entityType, entityId, entityName, dataWarehouseId, serviceId, isLocked, micros }) => ({
    date,
    entityType,
    entityId,
    entityName,
    dataWarehouseId,
    ...(serviceId === undefined ? {} : { serviceId }),
    locked: isLocked,
    metrics: Object.fromEntries(
      METRICS.flatMap((metric) => (micros[metric] === 0 ? [] : [[`${metric}CHC`, chcFromMicros(micros[metric])]])),
    ),
  }),

  /** Adds the names and ids of a known service or warehouse: a file needs only its id. */
  defaults: (fields, context) => ({ locked: false, metrics: {}, ...findOwnerFields(fields, context) }),

  build(_id, fields, { organization }) {
    const metrics = (fields.metrics ?? {}) as Record<string, number>;
    return {
      organizationId: organization.id,
      date: String(fields.date),
      entityType: fields.entityType as EntityType,
      entityId: String(fields.entityId),
      entityName: String(fields.entityName ?? fields.entityId),
      dataWarehouseId: String(fields.dataWarehouseId ?? '').toLowerCase(),
      serviceId:
        fields.serviceId === undefined || fields.entityType === 'datawarehouse'
          ? undefined
          : String(fields.serviceId).toLowerCase(),
      isLocked: fields.locked === true,
      micros: Object.fromEntries(
        METRICS.map((metric) => [metric, microsFromChc(metrics[`${metric}CHC`] ?? 0) ?? 0]),
      ) as Record<Metric, number>,
    };
  },

  violations({ before, after }, { lockedThrough }) {
    const violations: Violation[] = [];
    const reportMissing = (path: string) =>
      violations.push({
        path,
        rule: `The value is required for a ${after.entityType} that does not exist in this organization`,
        value: MISSING,
      });
    if (after.dataWarehouseId === '') reportMissing('dataWarehouseId');
    if (after.entityType === 'clickpipe' && after.serviceId === undefined) reportMissing('serviceId');
    const isChanged = before && JSON.stringify(this.toFields(before)) !== JSON.stringify(this.toFields(after));
    if (isChanged && before.isLocked)
      violations.push({ path: 'locked', rule: 'The record is locked and can no longer change', value: true });
    else if (isChanged && before.isMetered)
      violations.push({
        path: 'metrics',
        rule: 'The costs of this day are metered, and a file cannot change them',
        value: after.date,
      });
    if (!before && !after.isLocked && after.date <= lockedThrough) {
      const rule = `Days up to ${lockedThrough} are locked; a new record for one of them must be locked too`;
      violations.push({ path: 'locked', rule, value: false });
    }
    return violations;
  },

  removalViolations: ({ isLocked, isMetered, date, entityType, entityId }) =>
    isLocked || isMetered
      ? [
          {
            path: 'usageCosts',
            rule: `A ${isLocked ? 'locked' : 'metered'} record cannot be removed`,
            value: `${date} ${entityType} ${entityId}`,
          },
        ]
      : [],

  async save(tx, pairs, { organization }) {
    await putCosts(
      tx,
      pairs.map(({ after }) => after),
    );
    await bumpCostRevision(tx, organization.id);
  },

  async remove(tx, cost) {
    await deleteCost(tx, cost);
    await bumpCostRevision(tx, cost.organizationId);
  },
};

function findOwnerFields({ entityType, entityId, serviceId }: Fields, { services }: Context): Fields {
  const id = String(entityId);
  if (entityType === 'datawarehouse') {
    const warehouse = groupByWarehouse(services).get(id);
    const first = warehouse?.primaries[0] ?? warehouse?.first;
    return { dataWarehouseId: id, ...(first ? { entityName: `${first.name} warehouse` } : {}) };
  }
  const owner = services.get(entityType === 'service' ? id : String(serviceId ?? '').toLowerCase());
  const serviceFields = entityType === 'service' ? { serviceId: id } : {};
  if (!owner) return serviceFields;
  return {
    ...serviceFields,
    dataWarehouseId: owner.dataWarehouseId,
    ...(entityType === 'service' ? { entityName: owner.name } : {}),
  };
}
