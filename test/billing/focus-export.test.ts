import { expect, it, vi } from 'vitest';
import { parseCsvRecords } from '../support/csv.ts';
import { findFocusViolations, parseMicros } from '../support/focus.ts';
import { actor, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// Each store starts an engine.
vi.setConfig({ testTimeout: 600_000 });

onEachStore('the FOCUS export of metered usage', (store) => {
  const metering = useMetering(store);

  it('U4, U5: is exact for every meter, for odd quantities and for late usage', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    const { rating, reports } = metering.domains;
    const transferMeters = ['publicDataTransfer', ...[1, 2, 3, 4].map((tier) => `interRegionTier${tier}DataTransfer`)];
    const usage = (time: string, odd: number) => [
      org.event({ time, quantity: odd }),
      ...transferMeters.map((meter) => org.event({ time, meter, quantity: 1_234_567_891 + odd })),
      ...['storage', 'backup'].map((meter) =>
        org.event({ time, meter, entityType: 'datawarehouse', entityId: org.warehouse, quantity: `${7 ** 17 + odd}` }),
      ),
      ...['compute', 'dataTransfer', 'initialLoad'].map((meter) =>
        org.event({ time, meter, entityType: 'clickpipe', entityId: org.clickpipe, quantity: `${odd}.0625` }),
      ),
    ];
    await org.send([
      ...usage('2026-10-30T10:00:00Z', 7),
      ...usage('2026-11-10T10:00:00Z', 11),
      ...usage('2026-11-14T10:00:00Z', 13),
    ]);
    await rating.rateChanged();
    await rating.lockDays(actor, org.id, '2026-11-12');
    await org.send([...usage('2026-10-30T11:00:00Z', 1), ...usage('2026-11-10T11:00:00Z', 3)]);
    await rating.rateChanged();

    let text = '';
    for await (const chunk of reports.exports.render(org.id, { from: '2026-10-01', to: '2026-11-30' }, 'focus'))
      text += chunk.toString();
    const rows = parseCsvRecords(text);
    for (const row of rows) expect(findFocusViolations(row), JSON.stringify(row)).toEqual([]);
    const micros = rows.reduce((sum, { BilledCost = '' }) => sum + parseMicros(BilledCost), 0n);
    expect(micros).toBe(BigInt(await org.total('2026-10-01', '2026-11-30')));
    const kinds = (day: string) =>
      rows
        .filter(({ x_UsageDate, ChargeCategory }) => x_UsageDate === day && ChargeCategory === 'Adjustment')
        .map(({ ChargeClass, ChargePeriodStart }) => `${ChargeClass} ${ChargePeriodStart}`);
    expect(new Set(kinds('2026-10-30'))).toEqual(new Set(['Correction 2026-11-13T00:00:00Z']));
    expect(new Set(kinds('2026-11-10'))).toEqual(new Set([' 2026-11-13T00:00:00Z']));
    expect(new Set(rows.map(({ SkuId }) => SkuId)).size).toBe(11);
    expect(rows.filter(({ PricingUnit }) => PricingUnit === 'CHC')).toEqual([]);
  });
});
