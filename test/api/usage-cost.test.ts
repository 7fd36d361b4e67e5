import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acme, globex, initech } from '../support/fleet.ts';
import { withSecretsKey } from '../support/secrets-key.ts';
import { onEachStore, PROGRAM, useServer } from '../support/server.ts';

const METRICS = [
  'backupCHC',
  'computeCHC',
  'dataTransferCHC',
  'initialLoadCHC',
  'interRegionTier1DataTransferCHC',
  'interRegionTier2DataTransferCHC',
  'interRegionTier3DataTransferCHC',
  'interRegionTier4DataTransferCHC',
  'publicDataTransferCHC',
  'storageCHC',
];
const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
const organization = (usageCosts: object[]) => ({
  organizations: [{ id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts }],
});

onEachStore('usage costs', (store) => {
  const server = useServer(store);
  const costs = (from: string, to: string, { id, admin }: Pick<typeof acme, 'id' | 'admin'> = acme) =>
    server.call({ path: `/v1/organizations/${id}/usageCost?from_date=${from}&to_date=${to}`, key: admin });

  it('U1, U3: have one record per day and entity with all ten metrics, and serviceId only for services', async () => {
    const { status, json } = await costs('2026-10-01', '2026-10-02');
    const zeros = Object.fromEntries(METRICS.map((metric) => [metric, 0]));
    const service = {
      entityType: 'service',
      entityId: acme.primary,
      entityName: 'analytics',
      serviceId: acme.primary,
      dataWarehouseId: acme.warehouse,
    };
    expect(status).toBe(200);
    expect(json.result).toEqual({
      costs: [
        {
          date: '2026-10-01',
          entityType: 'datawarehouse',
          entityId: acme.warehouse,
          entityName: 'analytics warehouse',
          dataWarehouseId: acme.warehouse,
          locked: true,
          metrics: { ...zeros, storageCHC: 0.2, backupCHC: 0.1 },
          totalCHC: 0.3,
        },
        {
          ...service,
          date: '2026-10-01',
          locked: true,
          metrics: { ...zeros, computeCHC: 12.345678, publicDataTransferCHC: 0.1 },
          totalCHC: 12.445678,
        },
        {
          ...service,
          date: '2026-10-02',
          locked: false,
          metrics: { ...zeros, computeCHC: 1.000001 },
          totalCHC: 1.000001,
        },
      ],
      grandTotalCHC: 13.745679,
    });
  });

  it.each([
    ['days without usage', '2026-10-03', '2026-10-31'],
    ['future days (U2)', '2999-01-01', '2999-01-31'],
    ['the last supported days (U2)', '9999-12-01', '9999-12-31'],
    ['the first supported days (U2)', '0001-01-01', '0001-01-31'],
  ])('U1: %s return an empty list and 0', async (_, from, to) => {
    const { status, json } = await costs(from, to);
    expect(status).toBe(200);
    expect(json.result).toEqual({ costs: [], grandTotalCHC: 0 });
  });

  it('M4: an organization sees only its own costs', async () => {
    expect((await costs('2026-10-01', '2026-10-31', globex)).json.result).toMatchObject({
      costs: [{ entityId: globex.primary }],
      grandTotalCHC: 99.5,
    });
    expect((await costs('2026-10-01', '2026-10-31', initech)).json.result).toEqual({ costs: [], grandTotalCHC: 0 });
    const { status, json } = await costs('2026-10-01', '2026-10-31', { ...acme, id: globex.id });
    expect([status, json.error]).toEqual([404, `NOT_FOUND: organization ${globex.id} does not exist`]);
  });

  it('M4: the organization id is case-insensitive', async () => {
    expect(
      (await costs('2026-10-01', '2026-10-31', { ...acme, id: acme.id.toUpperCase() })).json.result.grandTotalCHC,
    ).toBe(13.745679);
  });

  it('R1: developers can read costs, query_endpoints cannot', async () => {
    expect((await costs('2026-10-01', '2026-10-01', { ...acme, admin: acme.developer })).status).toBe(200);
    expect((await costs('2026-10-01', '2026-10-01', { ...acme, admin: acme.query })).status).toBe(403);
  });
});

onEachStore('the order and totals of usage costs', (store) => {
  const named = ['app', 'Zebra', '😀 astral', 'apple', 'Äpfel', '～ wide', 'apple'];
  const ids = {
    service: { dataWarehouseId: uuid(2) },
    clickpipe: { serviceId: uuid(1), dataWarehouseId: uuid(2) },
    datawarehouse: { serviceId: uuid(1) },
  };
  const entities = Object.entries(ids).flatMap(([entityType, owner]) =>
    named.map((entityName, index) => ({ ...owner, entityType, entityName, entityId: uuid(100 - index) })),
  );
  const most = Object.fromEntries(METRICS.map((metric) => [metric, 999_999.999999]));
  const small = Object.fromEntries(METRICS.map((metric, index) => [metric, (index + 1) / 10]));
  const ordered = ['2026-05-02', '2026-05-01'].flatMap((date) => entities.map((entity) => ({ ...entity, date })));
  const summed = [most, small, { computeCHC: 0.000001 }, {}].map((metrics, index) => ({
    date: '2026-06-01',
    entityType: 'service',
    entityId: uuid(index),
    dataWarehouseId: uuid(2),
    metrics,
  }));
  const server = useServer(store, { fleet: organization([...ordered, ...summed]) });
  const costs = (from: string, to: string) =>
    server.call({ path: `/v1/organizations/${acme.id}/usageCost?from_date=${from}&to_date=${to}`, key: acme.admin });

  it('U1: are ordered by date, entity type, bytes of the name, then id, independent of the collation of the store', async () => {
    const { json } = await costs('2026-05-01', '2026-05-31');
    const byBytes = [
      ['Zebra', 99],
      ['app', 100],
      ['apple', 94],
      ['apple', 97],
      ['Äpfel', 96],
      ['～ wide', 95],
      ['😀 astral', 98],
    ] as const;
    const expected = ['2026-05-01', '2026-05-02'].flatMap((date) =>
      ['clickpipe', 'datawarehouse', 'service'].flatMap((entityType) =>
        byBytes.map(([name, id]) => [date, entityType, name, uuid(id)]),
      ),
    );
    expect(
      json.result.costs.map((cost: Record<string, string>) => [
        cost.date,
        cost.entityType,
        cost.entityName,
        cost.entityId,
      ]),
    ).toEqual(expected);
  });

  it('U3: serviceId is omitted for warehouses, the service itself for services, and the owner for clickpipes', async () => {
    const { json } = await costs('2026-05-01', '2026-05-02');
    for (const cost of json.result.costs) {
      expect(Object.keys(cost.metrics).sort()).toEqual(METRICS);
      const expected = {
        service: [cost.entityId, uuid(2)],
        clickpipe: [uuid(1), uuid(2)],
        datawarehouse: [undefined, cost.entityId],
      }[String(cost.entityType)];
      expect([cost.serviceId, cost.dataWarehouseId]).toEqual(expected);
      expect('serviceId' in cost).toBe(cost.entityType !== 'datawarehouse');
    }
  });

  it('U4: a total is the exact sum of its metrics, the grand total the exact sum of the totals', async () => {
    const { json, text } = await costs('2026-06-01', '2026-06-01');
    expect(json.result.costs.map(({ totalCHC }: { totalCHC: number }) => totalCHC)).toEqual([
      9_999_999.99999, 5.5, 0.000001, 0,
    ]);
    expect(json.result.grandTotalCHC).toBe(10_000_005.499991);
    expect(text.match(/CHC":/g)).toHaveLength(4 * 11 + 1);
    expect(text.match(/CHC":\d+(\.\d{1,6})?[,}]/g)).toHaveLength(4 * 11 + 1);
  });
});

onEachStore('a cost record changed by another process', (store) => {
  const ledger = (computeCHC: number, more: object[] = []) =>
    organization([
      {
        date: '2026-05-01',
        entityType: 'service',
        entityId: uuid(1),
        dataWarehouseId: uuid(2),
        entityName: 'one',
        metrics: { computeCHC },
      },
      ...more,
    ]);
  const server = useServer(store, { fleet: ledger(1) });

  function apply(fleet: object, ...options: string[]): void {
    const file = join(server.directory, 'next.json');
    writeFileSync(file, JSON.stringify(fleet));
    const where =
      server.databaseUrl === undefined
        ? ['--data', join(server.directory, 'data')]
        : ['--database-url', server.databaseUrl];
    execFileSync(process.execPath, [PROGRAM, 'apply', file, ...where, ...options], {
      env: { PATH: process.env.PATH, ...withSecretsKey() },
      stdio: 'pipe',
    });
  }

  it('U1, U4: is in the next response, even if an earlier one was cached', async () => {
    const read = async () => {
      const { json } = await server.call({
        path: `/v1/organizations/${acme.id}/usageCost?from_date=2026-05-01&to_date=2026-05-31`,
        key: acme.admin,
      });
      return [
        json.result.grandTotalCHC,
        json.result.costs.map(({ date, totalCHC }: { date: string; totalCHC: number }) => [date, totalCHC]),
      ];
    };
    const later = {
      date: '2026-05-09',
      entityType: 'service',
      entityId: uuid(1),
      dataWarehouseId: uuid(2),
      metrics: { storageCHC: 0.2 },
    };
    expect(await read()).toEqual([1, [['2026-05-01', 1]]]);
    expect(await read()).toEqual([1, [['2026-05-01', 1]]]);
    apply(ledger(2.5));
    expect(await read()).toEqual([2.5, [['2026-05-01', 2.5]]]);
    apply(ledger(2.5, [later]));
    expect(await read()).toEqual([
      2.7,
      [
        ['2026-05-01', 2.5],
        ['2026-05-09', 0.2],
      ],
    ]);
    apply(ledger(2.5), '--prune');
    expect(await read()).toEqual([2.5, [['2026-05-01', 2.5]]]);
  });
});
