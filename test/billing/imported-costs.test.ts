import { expect, it } from 'vitest';
import { actor, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

const DAY = '2026-11-14';
const NEXT_DAY = '2026-11-15';

onEachStore('imported cost records next to metered usage', (store) => {
  const from = useMetering(store);
  const to = useMetering(store);

  it('U4, F3: usage that is metered after export and apply is added to the exported costs, on the first free day', async () => {
    const org = await from.organization();
    await org.send([org.event({ time: `${DAY}T10:00:00Z`, quantity: 3000 }), org.event({ time: `${DAY}T11:00:00Z` })]);
    await from.domains.rating.rateChanged();
    const exported = await org.total(DAY, DAY);
    expect(exported).toBeGreaterThan(0);

    const file = await from.domains.fleet.export();
    await to.domains.fleet.apply(file as never, actor);
    const costs = (day: string) => to.domains.costs.list(org.id, { from: day, to: day });
    const sum = async (day: string) =>
      (await costs(day)).flatMap(({ micros }) => Object.values(micros)).reduce((total, micros) => total + micros, 0);
    expect(await sum(DAY)).toBe(exported);

    await org.send([org.event({ time: `${DAY}T12:00:00Z` })], to.domains);
    await to.domains.rating.rateChanged();
    expect(await sum(DAY)).toBe(exported);
    const added = await sum(NEXT_DAY);
    expect(added).toBeGreaterThan(0);

    await org.send([org.event({ time: `${DAY}T13:00:00Z` })], to.domains);
    await to.domains.rating.rateAll();
    expect([await sum(DAY), await sum(NEXT_DAY)]).toEqual([exported, 2 * added]);
    const check = await to.domains.rating.check({ organizationId: org.id });
    expect([check.differences, check.waiting]).toEqual([[], 0]);
  });

  it('books usage on its own day again after the imported record is removed', async () => {
    const org = await from.organization({ usageCosts: [] });
    const record = { date: DAY, entityType: 'service', entityId: org.a, metrics: { computeCHC: 7 } };
    const apply = (usageCosts: object[], prune = false) =>
      from.domains.fleet.apply({ organizations: [{ id: org.id, name: 'Imported', usageCosts }] } as never, actor, {
        prune,
      });
    await apply([record]);
    await org.send([org.event({ time: `${DAY}T10:00:00Z` })]);
    await from.domains.rating.rateChanged();
    expect(await org.total(DAY, DAY)).toBe(7_000_000);
    const metered = await org.total(NEXT_DAY, NEXT_DAY);
    expect(metered).toBeGreaterThan(0);

    await apply([], true);
    await from.domains.rating.rateAll();
    expect([await org.total(DAY, DAY), await org.total(NEXT_DAY, NEXT_DAY)]).toEqual([metered, 0]);
  });

  it('F3: rejects a file that would change or remove a metered record, with its path, and accepts it unchanged', async () => {
    const org = await from.organization({ usageCosts: [] });
    await org.send([org.event({ time: `${DAY}T10:00:00Z` })]);
    await from.domains.rating.rateChanged();
    const metered = await org.total(DAY, DAY);
    const exported = (await from.domains.fleet.export()).organizations.filter(({ id }) => id === org.id);
    const apply = (usageCosts: object[], options: object = {}) =>
      from.domains.fleet.apply(
        { organizations: exported.map((organization) => ({ ...organization, usageCosts })) } as never,
        actor,
        options,
      );
    const [record] = exported[0]?.usageCosts ?? [];
    await apply([record as object]);
    for (const options of [{}, { force: true }])
      await expect(apply([{ ...record, metrics: { computeCHC: 7 } }], options)).rejects.toMatchObject({
        violations: [
          { path: 'organizations[0].usageCosts[0].metrics', rule: expect.stringContaining('are metered'), value: DAY },
        ],
      });
    await expect(apply([], { prune: true })).rejects.toThrow(/A metered record cannot be removed/);
    expect(await org.total(DAY, DAY)).toBe(metered);
    await org.expectExact();
  });
});
