import { rejectViolations, type Violation } from '../../kernel/errors.ts';
import { MAX_PAGE_SIZE, type Page, type Position } from '../../kernel/page.ts';
import type { ListQuery } from '../../platform/state/keyset.ts';
import type { State } from '../../platform/state/state.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Organization } from '../organizations/organization.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { missingService } from './missing-service.ts';
import { applyScalingChange, type ScalingChange } from './scaling/scaling.ts';
import type { ScalingContext } from './scaling/scaling-limits.ts';
import { scheduleViolations } from './scaling/schedule.ts';
import type { Service } from './service.ts';
import { getScalingActivityType } from './service-activities.ts';
import { createServiceWriter } from './service-writer.ts';
import { findService, listServicePage, listServices, listServicesById, listWarehouses } from './store.ts';
import { toRequiredTags } from './tag-filter.ts';
import { listTaggedPage } from './tag-store.ts';

export type Services = ReturnType<typeof createServices>;

/** Rows of an index: few enough that a statement does not delay other requests. */
const TAGS_PER_READ = 5000;

interface TaggedIds {
  serviceIds: Set<string>;
  warehouseIds: Set<string>;
}

interface Preview {
  organization: Organization;
  before: Readonly<Service>;
  after: Readonly<Service>;
}

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
}

export function createServices({ state, audit, organizations }: Options) {
  const writer = createServiceWriter({ state, audit });

  return {
    list: (organizationId: string): Promise<Service[]> => listServices(state.db, organizationId),

    /** The services with these ids; ids that do not exist are ignored. */
    listByIds: (organizationId: string, ids: readonly string[]): Promise<Service[]> =>
      listServicesById(state.db, organizationId, ids),

    /** The services of these warehouses, oldest first. */
    listOfWarehouses: (organizationId: string, warehouseIds: readonly string[]): Promise<Service[]> =>
      listWarehouses(state.db, organizationId, warehouseIds),

    /** `filters` are tags that a service must have. */
    listPage: (organizationId: string, query: ListQuery, filters?: readonly string[]): Promise<Page<Service>> =>
      listServicePage(state.db, organizationId, { ...query, tags: toRequiredTags(filters) }),

    /** The first services, oldest first; at most `count`. */
    async listFirst(organizationId: string, count: number): Promise<Service[]> {
      const found: Service[] = [];
      for (let after: Position | undefined; ; ) {
        const limit = Math.min(count - found.length, MAX_PAGE_SIZE);
        const { items, next } = await this.listPage(organizationId, { sort: 'createdAt', limit, after });
        found.push(...items);
        if (!next || found.length >= count) return found;
        after = next;
      }
    },

    /** The ids of all services with the tags, and of the warehouses whose first service has them. There is at least one filter. */
    async findTagged(organizationId: string, filters: readonly string[]): Promise<TaggedIds> {
      const tagged: TaggedIds = { serviceIds: new Set(), warehouseIds: new Set() };
      for (let after: Position | undefined; ; ) {
        const query = { sort: 'createdAt', limit: TAGS_PER_READ, after, tags: toRequiredTags(filters) } as const;
        const { items, next } = await listTaggedPage(state.db, organizationId, query);
        for (const { id, warehouseId } of items) {
          tagged.serviceIds.add(id);
          if (warehouseId !== undefined) tagged.warehouseIds.add(warehouseId);
        }
        if (!next) return tagged;
        after = next;
      }
    },

    async get(organizationId: string, id: string, db = state.db): Promise<Readonly<Service>> {
      const service = await findService(db, organizationId, id);
      if (!service) throw missingService(id);
      return service;
    },

    /** The result of a change without storing it; rejected for the same reasons. */
    async preview(organizationId: string, id: string, change: ScalingChange): Promise<Preview> {
      const organization = await organizations.get(organizationId);
      const before = await findService(state.db, organizationId, id);
      if (!before) throw missingService(id);
      return { organization, before, after: rescaled(before, change, { organization, service: before }) };
    },

    /** Merges the change into the stored settings, so concurrent changes of different fields both take effect. */
    rescale: (actor: Actor, organizationId: string, id: string, change: ScalingChange): Promise<Readonly<Service>> =>
      writer.change(actor, organizationId, id, ({ organization, service }) => {
        const after = rescaled(service, change, { organization, service });
        const changed = difference(service.scaling, after.scaling);
        const type = getScalingActivityType(changed);
        return type && { after, activities: [{ type, ...changed }] };
      }),
  };
}

/** Throws if the change violates a rule, also together with an entry of the scaling schedule. */
function rescaled(service: Readonly<Service>, change: ScalingChange, context: ScalingContext): Readonly<Service> {
  const { scaling, violations } = applyScalingChange(service.scaling, change, context);
  rejectViolations(violations);
  const entries = service.settings?.scalingSchedule;
  if (entries)
    rejectViolations(
      scheduleViolations(entries, scaling, context).map(
        (violation): Violation => ({
          ...violation,
          path: '',
          rule: `The scaling schedule conflicts with the change, entries${violation.path}: ${violation.rule}`,
        }),
      ),
    );
  return { ...service, scaling };
}
