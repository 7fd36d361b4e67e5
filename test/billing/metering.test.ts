import { expect, it, vi } from 'vitest';
import { useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// An engine of its own for each store.
vi.setConfig({ testTimeout: 120_000 });

onEachStore('metered usage', (store) => {
  const metering = useMetering(store);

  it('becomes the bill of its day: quantity × price, to the micro-credit', async () => {
    const org = await metering.organization();
    const TB_HOUR = 10n ** 12n;
    const taken = await org.send([
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
    expect(taken).toEqual({ accepted: 4, duplicates: 0, rejected: 0, errors: [] });
    await metering.domains.rating.rateDirty();
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
  });

  it('counts a source and id once, whatever else a repetition says, in whichever batch or process', async () => {
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
      expect(await org.send([other], metering.again())).toMatchObject({ accepted: 0, duplicates: 1 });
    expect(await org.send([{ ...first, source: 'another' }])).toMatchObject({ accepted: 1, duplicates: 0 });
    await metering.domains.rating.rateDirty();
    expect(await org.total('2026-11-01', '2026-11-15')).toBe(2 * 298_500);
    await org.expectExact();
  });
});
