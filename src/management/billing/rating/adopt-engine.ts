import { subtractDecimals, sumDecimals } from '../../../kernel/numbers/decimal.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { LeasedState } from '../../../platform/leases/session.ts';
import type { DryRunOption } from '../../../platform/state/dry-run.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { EngineBinding } from '../metering/engine-binding.ts';
import { bindEngine, findBoundEngine } from '../metering/engine-store.ts';
import { meteredEntityKey, type UsageTotal } from './ledger.ts';
import { setAdopted } from './mismatch-store.ts';
import { listDays, listEntriesOfUsage, type UsageDay } from './store.ts';
import { readDayUsage } from './usage-totals.ts';

interface Options {
  state: LeasedState;
  engine: Engine;
  binding: EngineBinding;
  audit: Audit;
  organizations: Organizations;
}

/** Usage that the ledger has and the engine does not. */
interface MissingUsage extends UsageTotal {
  organizationId: string;
  date: Day;
  /** The quantity that the engine has. */
  metered: string;
}

interface EngineAdoption {
  identity: string;
  /** The identity of the engine that the store was bound to. */
  previous: string | undefined;
  days: number;
  missing: MissingUsage[];
}

/** The source of the events that replace missing usage. */
const SOURCE = 'pilothouse';

/**
 * Continues with the current engine. The quantities that the ledger has and the engine lacks are added to the engine as
 * events, so that the next rating changes no amount. The ids of the lost events are lost: if they are sent again, they
 * count again. An interrupted run can be repeated, since only what is still missing is added.
 */
export function createEngineAdoption({ state, engine, binding, audit, organizations }: Options) {
  async function findMissing({ organizationId, date }: UsageDay): Promise<MissingUsage[]> {
    const { totals } = await readDayUsage(engine, organizationId, date);
    const metered = new Map(totals.map((total) => [meteredEntityKey(total), total.quantity]));
    const booked = new Map<string, UsageTotal[]>();
    for (const entry of await listEntriesOfUsage(state.db, organizationId, date))
      booked.set(meteredEntityKey(entry), [...(booked.get(meteredEntityKey(entry)) ?? []), entry]);
    return [...booked].flatMap(([key, entries]) => {
      const [first] = entries;
      const found = metered.get(key) ?? '0';
      const quantity = subtractDecimals(sumDecimals(entries.map((entry) => entry.quantity)), found);
      if (!first || quantity === '0' || quantity.startsWith('-')) return [];
      const { entityType, entityId, meter } = first;
      return [{ organizationId, date, entityType, entityId, meter, quantity, metered: found }];
    });
  }

  /** The count is read afterwards, so it includes the added events. */
  async function insertMissing(missing: readonly MissingUsage[], identity: string): Promise<void> {
    const rows = missing.map(({ organizationId, date, entityType, entityId, meter, quantity, metered }) => ({
      OrganizationId: organizationId,
      EntityType: entityType,
      EntityId: entityId,
      Meter: meter,
      Time: `${date}T00:00:00Z`,
      Source: SOURCE,
      // The same for a repeated run, so that concurrent runs add each quantity once.
      Id: `adopted ${identity} ${date} ${entityType} ${entityId} ${meter} ${metered} + ${quantity}`,
      Quantity: quantity,
    }));
    await engine.insert('usage_events', rows);
  }

  async function adoptDays(organizationId: string, days: readonly UsageDay[]): Promise<void> {
    const counts = new Map<Day, number>();
    for (const { date } of days) counts.set(date, (await readDayUsage(engine, organizationId, date)).events);
    await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      for (const [date, events] of counts) await setAdopted(tx, { organizationId, date }, events);
    });
  }

  return async (actor: Actor, { dryRun = false }: DryRunOption = {}): Promise<EngineAdoption> => {
    await engine.start();
    const identity = await binding.getIdentity();
    const previous = await findBoundEngine(state.db);
    const days = (await listDays(state.db, {})).filter(({ revision }) => revision > 0);
    const byOrganization = new Map<string, UsageDay[]>();
    for (const day of days)
      byOrganization.set(day.organizationId, [...(byOrganization.get(day.organizationId) ?? []), day]);
    const missing: MissingUsage[] = [];
    for (const [organizationId, ofOrganization] of byOrganization) {
      const found: MissingUsage[] = [];
      for (const day of ofOrganization) found.push(...(await findMissing(day)));
      missing.push(...found);
      if (dryRun) continue;
      await insertMissing(found, identity);
      await adoptDays(organizationId, ofOrganization);
    }
    if (!dryRun) await finish(actor, identity, previous, byOrganization, missing);
    return { identity, previous, days: days.length, missing };
  };

  async function finish(
    actor: Actor,
    identity: string,
    previous: string | undefined,
    byOrganization: ReadonlyMap<string, readonly UsageDay[]>,
    missing: readonly MissingUsage[],
  ): Promise<void> {
    const now = await state.now();
    await state.write(async (tx) => {
      await bindEngine(tx, identity, now);
      for (const [organizationId, days] of byOrganization)
        await audit.record(tx, actor, {
          organizationId,
          type: 'usage_engine_adopt',
          resource: { type: 'usage_engine', id: identity },
          before: { engine: previous ?? null },
          after: {
            engine: identity,
            days: days.length,
            addedEvents: missing.filter((one) => one.organizationId === organizationId).length,
          },
        });
    });
  }
}
