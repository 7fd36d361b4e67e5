import type { KyselyPlugin } from 'kysely';
import { expect, it, vi } from 'vitest';
import { deleteEntries, putEntries } from '../../src/management/billing/rating/store.ts';
import { actor, useMetering } from '../support/metering.ts';
import { onEachStore } from '../support/server.ts';

// Each store starts an engine.
vi.setConfig({ testTimeout: 600_000 });

const HOUR = 298_500;

onEachStore('locking days', (store) => {
  const metering = useMetering(store);
  const rate = () => metering.domains.rating.rateChanged();

  it('U5: books late usage on the first open day as an adjustment and keeps the locked record', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    expect(await metering.domains.rating.lockDays(actor, org.id, '2026-11-12')).toBe(1);
    const before = await org.costs('2026-11-10');
    expect(before).toMatchObject([{ isLocked: true, micros: { compute: HOUR } }]);
    await org.send([
      org.event({ time: '2026-11-10T23:59:59.999Z', quantity: 30 }),
      // A day without usage before it was locked is locked too.
      org.event({ time: '2026-11-11T00:00:00Z', quantity: 120 }),
      org.event({ time: '2026-11-13T00:00:00Z', quantity: 60 }),
    ]);
    await rate();
    expect(await org.costs('2026-11-10')).toEqual(before);
    expect(await org.costs('2026-11-11', '2026-11-12')).toEqual([]);
    expect(await org.costs('2026-11-13')).toMatchObject([{ isLocked: false, micros: { compute: 3.5 * HOUR } }]);
    const entries = (await org.ledger('2026-11-13')).map(({ usageDate, quantity, micros }) => [
      usageDate,
      quantity,
      micros,
    ]);
    expect(entries.sort()).toEqual([
      ['2026-11-10', '30', HOUR / 2],
      ['2026-11-11', '120', 2 * HOUR],
      ['2026-11-13', '60', HOUR],
    ]);
    await org.expectExact();

    // Rating again changes nothing. More late usage extends the adjustment, or adds one once its day is locked.
    await metering.domains.rating.rateAll({ organizationId: org.id }, 'all');
    expect(await org.ledger('2026-11-13')).toHaveLength(3);
    await org.send([org.event({ time: '2026-11-10T01:00:00Z', quantity: 30 })]);
    await rate();
    expect(await org.total('2026-11-13', '2026-11-13')).toBe(4 * HOUR);
    await metering.domains.rating.lockDays(actor, org.id, '2026-11-13');
    await org.send([org.event({ time: '2026-11-10T02:00:00Z', quantity: 60 })]);
    await rate();
    expect(await org.total('2026-11-13', '2026-11-13')).toBe(4 * HOUR);
    expect(await org.ledger('2026-11-14')).toMatchObject([{ usageDate: '2026-11-10', quantity: '60', micros: HOUR }]);
    await org.expectExact();
  });

  it('locks a day exactly when its lock delay is over', async () => {
    const org = await metering.organization();
    metering.clock.set('2026-11-30T23:30:00Z');
    await org.send([org.event({ time: '2026-11-30T23:59:59.999Z' }), org.event({ time: '2026-12-01T00:00:00Z' })]);
    const { rater } = metering.domains;
    const locked = async () => (await org.days()).map(({ date, isLocked }) => [date, isLocked]);
    await rater.run();
    metering.clock.set('2026-12-14T23:59:59Z');
    await rater.run();
    expect(await locked()).toEqual([
      ['2026-11-30', false],
      ['2026-12-01', false],
    ]);
    metering.clock.set('2026-12-15T00:00:00Z');
    await rater.run();
    expect(await locked()).toEqual([
      ['2026-11-30', true],
      ['2026-12-01', false],
    ]);
    expect(await org.costs('2026-11-30')).toMatchObject([{ isLocked: true, micros: { compute: HOUR } }]);
    expect(await org.costs('2026-12-01')).toMatchObject([{ isLocked: false, micros: { compute: HOUR } }]);
    metering.clock.set('2026-12-16T00:00:00Z');
    await rater.run();
    expect(await locked()).toEqual([
      ['2026-11-30', true],
      ['2026-12-01', true],
    ]);
    const { list } = metering.domains.audit;
    expect((await list(org.id, {}, { limit: 10 })).activities.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['usage_day_lock']),
    );
  });

  it('does not read locked days when the rater looks for work', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    const days = Array.from({ length: 20 }, (_, index) => `2026-10-${String(index + 1).padStart(2, '0')}`);
    await org.send([...days, '2026-11-14'].map((day) => org.event({ time: `${day}T10:00:00Z` })));
    await metering.domains.rating.lockDays(actor, org.id, '2026-10-31');
    const daysRead: unknown[] = [];
    const recorder: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        for (const row of result.rows) if ('rated_revision' in row) daysRead.push([row.organization_id, row.date]);
        return result;
      },
    };
    const { rater } = metering.createNode({ db: metering.state.db.withPlugin(recorder) });
    await rater.run();
    await rater.run();
    const own = daysRead.filter((day) => (day as string[])[0] === org.id);
    expect(own.length).toBeGreaterThan(0);
    expect(own).toEqual(own.map(() => [org.id, '2026-11-14']));
  });

  it('does not lock a day while its usage is being imported', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    await metering.domains.lockClock.confirm(actor);
    const org = await metering.organization();
    const { rater } = metering.domains;
    await org.send([org.event({ time: '2026-03-01T00:00:00Z' })]);
    await rater.run();
    await org.send([org.event({ time: '2026-03-01T01:00:00Z' })]);
    await rater.run();
    expect(await org.total('2026-03-01', '2026-03-01')).toBe(2 * HOUR);
    metering.clock.set('2026-11-15T13:00:00Z');
    await rater.run();
    expect(await org.costs('2026-03-01')).toMatchObject([{ isLocked: true, micros: { compute: 2 * HOUR } }]);
  });

  it('does not overwrite imported records, locked or open', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    const imported = (date: string, locked: boolean) => ({
      date,
      entityType: 'service',
      entityId: org.a,
      locked,
      metrics: { computeCHC: 7 },
    });
    const usageCosts = [imported('2026-11-10', true), imported('2026-11-11', true), imported('2026-11-12', false)];
    const file = { organizations: [{ id: org.id, name: 'Imported', usageCosts }] };
    await metering.domains.fleet.apply(file as never, actor);
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    const before = metering.ratings.length;
    await rate();
    expect(metering.ratings.length).toBeGreaterThan(before);
    expect(await org.total('2026-11-10', '2026-11-12')).toBe(21_000_000);
    expect(await org.ledger('2026-11-13')).toMatchObject([{ usageDate: '2026-11-10', micros: HOUR }]);
    await org.expectExact();
  });

  it('does not overwrite a locked record that is imported while the day is being rated', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    const locked = { date: '2026-11-10', entityType: 'service', entityId: org.a, locked: true };
    const file = {
      organizations: [{ id: org.id, name: 'Late', usageCosts: [{ ...locked, metrics: { computeCHC: 7 } }] }],
    };
    // The transaction starts after everything else is read.
    const node = metering.createNode({
      beforeWrite: () => metering.domains.fleet.apply(file as never, actor).then(() => {}),
    });
    await node.rating.rateDay(org.id, '2026-11-10');
    expect(await org.total('2026-11-10', '2026-11-10')).toBe(7_000_000);
    expect(await org.ledger('2026-11-11')).toMatchObject([{ usageDate: '2026-11-10', micros: HOUR }]);
    await org.expectExact();
  });

  it('rejects a fleet file that adds an open record to a locked day, with its path in the file', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    await metering.domains.rating.lockDays(actor, org.id, '2026-11-12');
    const apply = (...records: [date: string, locked: boolean][]) => {
      const usageCosts = records.map(([date, locked]) => ({
        date,
        entityType: 'service',
        entityId: org.b,
        locked,
        metrics: { computeCHC: 7 },
      }));
      const file = { organizations: [{ id: org.id, name: 'Late', usageCosts }] };
      return metering.domains.fleet.apply(file as never, actor);
    };
    await expect(apply(['2026-11-13', false], ['2026-11-12', false])).rejects.toMatchObject({
      violations: [
        {
          path: 'organizations[0].usageCosts[1].locked',
          rule: 'Days up to 2026-11-12 are locked; a new record for one of them must be locked too',
        },
      ],
    });
    expect(await org.total('2026-11-11', '2026-11-13')).toBe(0);
    await apply(['2026-11-13', false], ['2026-11-12', true]);
    expect(await org.total('2026-11-11', '2026-11-13')).toBe(14_000_000);
  });

  it('applies a new price to open days only, and a new tier to usage that was not rated before', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([
      org.event({ time: '2026-11-10T10:00:00Z' }),
      org.event({ time: '2026-11-14T10:00:00Z' }),
      org.event({ time: '2026-11-15T10:00:00Z' }),
    ]);
    await metering.domains.rating.lockDays(actor, org.id, '2026-11-13');
    await rate();
    const { prices, fleet } = metering.domains;
    const [shipped] = await prices.list();
    const higher = (shipped?.prices ?? []).map((price) => ({ ...price, price: String(Number(price.price) * 2) }));
    await expect(prices.set(actor, { effectiveFrom: '2026-11-13', prices: higher })).rejects.toThrow(
      /the last locked day/,
    );
    const { version } = await prices.set(actor, { effectiveFrom: '2026-12-02', prices: higher });
    await rate();
    expect(await org.total('2026-11-10', '2026-11-15')).toBe(3 * HOUR);
    metering.clock.set('2026-12-02T12:00:00Z');
    await org.send([org.event({ time: '2026-12-02T10:00:00Z' })]);
    await rate();
    expect(await org.ledger('2026-12-02')).toMatchObject([
      { priceVersion: version, unitPrice: '0.597', micros: 2 * HOUR },
    ]);
    const lower = higher.map((price) => ({ ...price, price: '0.06' }));
    await prices.set(actor, { effectiveFrom: '2026-12-02', prices: lower });
    await rate();
    expect(await org.ledger('2026-12-02')).toMatchObject([
      { priceVersion: version + 1, unitPrice: '0.06', micros: 60_000 },
    ]);
    const tier = { organizations: [{ id: org.id, name: 'Tier', tier: 'ENTERPRISE', paid: true }] };
    await fleet.apply(tier as never, actor);
    await org.send([org.event({ time: '2026-11-10T11:00:00Z' }), org.event({ time: '2026-11-16T11:00:00Z' })]);
    await rate();
    expect(await org.total('2026-11-10', '2026-11-10')).toBe(HOUR);
    expect(await org.ledger('2026-11-14')).toEqual(
      expect.arrayContaining([expect.objectContaining({ usageDate: '2026-11-10', unitPrice: '0.2985', micros: HOUR })]),
    );
    expect(await org.ledger('2026-11-16')).toMatchObject([{ unitPrice: '0.3903', micros: 390_300 }]);
    await org.expectExact();
  });

  it('rejects changes to a locked ledger in the store', async () => {
    metering.clock.set('2026-11-15T12:00:00Z');
    const org = await metering.organization();
    await org.send([org.event({ time: '2026-11-10T10:00:00Z' })]);
    await metering.domains.rating.lockDays(actor, org.id, '2026-11-10');
    const entries = await org.ledger('2026-11-10');
    const { state } = metering;
    for (const change of [putEntries, deleteEntries])
      await expect(state.write((tx) => change(tx, org.id, entries, '2026-11-10'))).rejects.toThrow(/is locked/);
    await expect(metering.domains.rating.lockDays(actor, org.id, '2026-11-15')).rejects.toThrow(/must be over/);
    expect(await metering.domains.rating.lockDays(actor, org.id, '2026-11-09')).toBe(0);
  });
});
