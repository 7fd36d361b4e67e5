import { expect, it, vi } from 'vitest';
import { isLongRun } from '../support/long-run.ts';
import { useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// Each store starts an engine.
vi.setConfig({ testTimeout: 600_000 });

onEachStore('metered usage', (store) => {
  const metering = useMetering(store);

  it('is billed on its day: quantity × price, exact to the micro-CHC', async () => {
    const org = await metering.organization();
    const TB_HOUR = 10n ** 12n;
    const result = await org.send([
      org.event({ quantity: 90 }),
      org.event({ quantity: '0.000001', entityId: org.b }),
      org.event({
        entityType: 'datawarehouse',
        entityId: org.warehouse,
        meter: 'storage',
        quantity: String(732n * TB_HOUR),
      }),
      org.event({ entityType: 'clickpipe', entityId: org.clickpipe, meter: 'initialLoad', quantity: 1_500_000_000 }),
    ]);
    expect(result).toEqual({ accepted: 4, duplicates: 0, rejected: 0, errors: [] });
    await metering.domains.rating.rateChanged();
    const costs = await org.costs('2026-11-15');
    expect(
      costs.map(({ entityType, entityName, serviceId, dataWarehouseId }) => [
        entityType,
        entityName,
        serviceId,
        dataWarehouseId,
      ]),
    ).toEqual([
      ['clickpipe', 'pipe', org.a, org.warehouse],
      ['datawarehouse', 'a warehouse', undefined, org.warehouse],
      ['service', 'a', org.a, org.warehouse],
      ['service', 'b', org.b, org.warehouse],
    ]);
    expect(costs.map(({ micros }) => [micros.initialLoad, micros.storage, micros.compute])).toEqual([
      [60_000, 0, 0],
      [0, 25_300_000, 0],
      [0, 0, 447_750],
      [0, 0, 0],
    ]);
    expect(costs.every(({ isLocked }) => !isLocked)).toBe(true);
    await org.expectExact();
    const metrics = (await metering.domains.serviceMetrics.renderOrganization(org.id)).split('\n');
    const usage = metrics.filter((line) => line.startsWith('pilothouse_service_usage_month_to_date{'));
    expect(usage).toContainEqual(expect.stringMatching(`${org.a}.*meter="compute".* 90$`));
  });

  it('is complete if its day is rated while a batch is being stored', async () => {
    const org = await metering.organization();
    const { rating } = metering.domains;
    const node = metering.createNode({ afterInsert: async () => void (await rating.rateDay(org.id, '2026-11-15')) });
    for (const expected of [1, 2]) {
      expect(await org.send([org.event({ quantity: 60 })], node)).toMatchObject({ accepted: 1 });
      await rating.rateChanged();
      expect(await org.total('2026-11-15', '2026-11-15')).toBe(expected * 298_500);
      expect(await org.days()).toMatchObject([{ events: expected, mismatch: undefined }]);
      await org.expectExact();
    }
  });

  it('counts a source and id once across batches and processes, regardless of other fields', async () => {
    const org = await metering.organization();
    const first = org.event({ id: 'one', quantity: 60 });
    expect(await org.send([first, first])).toMatchObject({ accepted: 1, duplicates: 1 });
    expect(await org.send([first])).toMatchObject({ accepted: 0, duplicates: 1 });
    const others = [
      { ...first, quantity: 600 },
      { ...first, entityId: org.b },
      { ...first, time: '2026-11-01T00:00:00Z' },
      { ...first, entityType: 'clickpipe', entityId: org.clickpipe },
    ];
    for (const other of others) expect(await org.send([other])).toMatchObject({ accepted: 0, duplicates: 1 });
    for (const other of others)
      expect(await org.send([other], metering.restart())).toMatchObject({ accepted: 0, duplicates: 1 });
    expect(await org.send([{ ...first, source: 'another' }])).toMatchObject({ accepted: 1, duplicates: 0 });
    await metering.domains.rating.rateChanged();
    expect(await org.total('2026-11-01', '2026-11-15')).toBe(2 * 298_500);
    await org.expectExact();
  });

  it('counts an id once when several nodes receive it at the same time with different fields', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    const nodes = [metering.createNode(), metering.createNode(), metering.createNode()];
    const batch = (day: number) =>
      Array.from({ length: 50 }, (_, index) => org.event({ id: `n ${index}`, time: `2026-11-1${day}T00:00:00Z` }));
    const results = await Promise.all([1, 2, 3, 4].flatMap((day) => nodes.map((node) => org.send(batch(day), node))));
    expect(results.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(50);
    expect(results.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(11 * 50);
    await Promise.all(nodes.map((node) => node.rating.rateChanged(org.id)));
    await metering.domains.rating.rateChanged(org.id);
    expect(await org.total('2026-11-10', '2026-11-15')).toBe(50 * 298_500);
    await org.expectExact();
  });

  it('rates the days of an unfinished batch again once the lease of its node has expired', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([org.event()], metering.createNode());
    await metering.domains.rating.rateChanged(org.id);
    const revision = async () => (await org.days())[0]?.revision ?? 0;
    const before = await revision();
    await metering.state.db
      .updateTable('usage_intakes')
      .set({ days: '["2026-11-15"]' })
      .where('organization_id', '=', org.id)
      .execute();
    const other = metering.createNode();
    await other.intake.recoverUnfinished();
    expect(await revision()).toBe(before);
    metering.clock.set('2026-11-15T12:01:01Z');
    await other.intake.recoverUnfinished();
    expect(await revision()).toBe(before + 1);
    await other.intake.recoverUnfinished();
    expect(await revision()).toBe(before + 1);
  });

  if (isLongRun || store === 'libsql')
    it('accepts a batch of any number of days, and events for an entity that was just created', async () => {
      const org = await metering.organization();
      // ClickHouse rejects an insert into more than 100 partitions, and a month is one.
      const count = isLongRun ? 250 : 110;
      const months = Array.from({ length: count }, (_, index) =>
        org.event({ time: new Date(Date.UTC(2001, index, 3)).toISOString() }),
      );
      expect(await org.send(months)).toMatchObject({ accepted: count, rejected: 0 });
      expect(await org.send(months)).toMatchObject({ accepted: 0, duplicates: count });
      const service = { id: crypto.randomUUID(), name: 'new', dataWarehouseId: org.warehouse, isPrimary: false };
      const file = { organizations: [{ id: org.id, name: 'Grown', services: [service] }] };
      await metering.domains.fleet.apply(file as never, { type: 'system', id: 'test', details: 'test' });
      expect(await org.send([org.event({ entityId: service.id })])).toMatchObject({ accepted: 1 });
      await metering.domains.rating.rateChanged(org.id);
      await org.expectExact();
    });
});
