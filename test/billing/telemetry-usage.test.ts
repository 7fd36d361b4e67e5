import { expect, it, vi } from 'vitest';
import { TELEMETRY_ENTITY } from '../../src/management/billing/entity.ts';
import { LIST_PRICES } from '../../src/management/billing/prices/price-book.ts';
import { parseCsvRecords } from '../support/csv.ts';
import { findFocusViolations } from '../support/focus.ts';
import { actor, type TestOrganization, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// Each store starts an engine.
vi.setConfig({ testTimeout: 600_000 });

onEachStore('the usage of telemetry', (store) => {
  const metering = useMetering(store);

  const count = (org: TestOrganization, time: string, signal: string, bytes: number, reason = '') =>
    metering.engine.insert('ingest_counts', [
      {
        OrganizationId: org.id,
        Time: time,
        Signal: signal,
        TokenId: 'token',
        ServiceName: 'checkout',
        Reason: reason,
        Records: 1,
        Bytes: bytes,
        Sample: '',
      },
    ]);
  const meter = async (domains = metering.domains) => {
    await domains.telemetryMetering.flush();
    await metering.domains.rating.rateChanged();
  };
  const quantities = async (org: TestOrganization, date: string) =>
    Object.fromEntries((await org.ledger(date)).map(({ meter: name, quantity }) => [name, quantity]));

  it('is metered by signal and day, costs nothing by default, and is in cost records and exports', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const [org, other] = [await metering.organization(), await metering.organization()];
    await count(org, '2026-11-14T23:59:00Z', 'logs', 1_000_000_007);
    await count(org, '2026-11-15T11:58:00Z', 'logs', 500);
    await count(org, '2026-11-15T11:58:00Z', 'traces', 70);
    await count(org, '2026-11-15T11:58:00Z', 'metrics', 9);
    await count(org, '2026-11-15T11:58:00Z', 'logs', 12_345, 'it is too old');
    await org.send([org.event({ quantity: 60 })]);
    await metering.domains.rating.rateChanged();
    const before = await org.total('2026-11-01', '2026-11-30');
    await meter();
    expect(await quantities(org, '2026-11-14')).toEqual({ telemetryLogs: '1000000007' });
    expect(await quantities(org, '2026-11-15')).toEqual({
      compute: '60',
      telemetryLogs: '500',
      telemetryTraces: '70',
      telemetryMetrics: '9',
    });
    expect(await other.ledger('2026-11-15')).toEqual([]);
    expect(before).toBeGreaterThan(0);
    expect(await org.total('2026-11-01', '2026-11-30')).toBe(before);
    const { entityId, entityName, entityType } = TELEMETRY_ENTITY;
    expect(await org.costs('2026-11-14')).toMatchObject([{ entityId, entityName, entityType, serviceId: undefined }]);
    await org.expectExact();

    let text = '';
    const { exports } = metering.domains.reports;
    for await (const chunk of exports.render(org.id, { from: '2026-11-14', to: '2026-11-14' }, 'focus'))
      text += chunk.toString();
    const [row = {}, ...more] = parseCsvRecords(text);
    expect(more).toEqual([]);
    expect(findFocusViolations(row)).toEqual([]);
    expect(row).toMatchObject({
      SkuMeter: 'Telemetry, logs',
      SkuId: 'clickpipe.telemetryLogs',
      ResourceName: 'Telemetry',
      ConsumedQuantity: '1.000000007',
      ConsumedUnit: 'GB',
      BilledCost: '0',
    });
  });

  it('is counted once by several nodes, after restarts, and together with late counts', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    const nodes = [metering.createNode(), metering.createNode(), metering.createNode()];
    await count(org, '2026-11-15T11:00:00Z', 'logs', 100);
    await Promise.all(nodes.map((node) => node.telemetryMetering.flush()));
    for (const bytes of [20, 3]) {
      await count(org, '2026-11-15T11:30:00Z', 'logs', bytes);
      await Promise.all([...nodes, metering.createNode()].map((node) => node.telemetryMetering.flush()));
    }
    await Promise.all(nodes.map((node) => node.telemetryMetering.flush()));
    await meter(metering.restart());
    expect(await quantities(org, '2026-11-15')).toEqual({ telemetryLogs: '123' });

    // The server was stopped before it metered the last counts.
    metering.clock.set('2026-11-20T12:00:00Z');
    await count(org, '2026-11-15T23:59:00Z', 'logs', 1000);
    await meter(metering.restart());
    expect(await quantities(org, '2026-11-15')).toEqual({ telemetryLogs: '1123' });
    await org.expectExact();
  });

  it('is charged as data transfer once the price book has a price for it, by signal', async () => {
    metering.clock.set('2026-11-25T12:00:00Z');
    const org = await metering.organization();
    const prices = LIST_PRICES.prices.filter(({ meter: name }) => !name.startsWith('telemetry'));
    await metering.domains.prices.set(actor, {
      effectiveFrom: '2026-11-25',
      prices: [...prices, { meter: 'telemetryLogs', price: '0.5' }],
    });
    await count(org, '2026-11-24T10:00:00Z', 'logs', 3e9);
    await count(org, '2026-11-25T10:00:00Z', 'logs', 3e9);
    await count(org, '2026-11-25T10:00:00Z', 'traces', 3e9);
    await meter();
    expect(await org.total('2026-11-24', '2026-11-24')).toBe(0);
    expect(await org.costs('2026-11-25')).toMatchObject([
      { entityName: 'Telemetry', micros: { dataTransfer: 1_500_000 } },
    ]);
    expect(await org.total('2026-11-25', '2026-11-25')).toBe(1_500_000);
    await org.expectExact();
  });
});
