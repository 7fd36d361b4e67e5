import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** Two services in two warehouses over 70 days, with amounts that binary floating point cannot represent. */
const FIRST = Date.parse('2026-08-01T00:00:00Z');
const dates = Array.from({ length: 70 }, (_, day) => new Date(FIRST + day * 86_400_000).toISOString().slice(0, 10));
const microsOn = (day: number, entity: number) => 100_001 + 7 * day + 1_000_000 * entity;
const usageCosts = dates.flatMap((date, day) => [
  {
    date,
    entityType: 'service',
    entityId: uuid(1),
    // Renamed in the middle of September.
    entityName: date < '2026-09-15' ? 'old name' : 'new name',
    dataWarehouseId: uuid(10),
    metrics: { computeCHC: microsOn(day, 1) / 1e6, publicDataTransferCHC: 0.1 },
  },
  {
    date,
    entityType: 'datawarehouse',
    entityId: uuid(10),
    entityName: 'first warehouse',
    metrics: { storageCHC: 0.2, backupCHC: 0.1 },
  },
  {
    date,
    entityType: 'service',
    entityId: uuid(2),
    entityName: 'second',
    dataWarehouseId: uuid(20),
    metrics: { computeCHC: microsOn(day, 2) / 1e6 },
  },
]);

const sumDays = (from: string, to: string, micros: (day: number) => number) =>
  dates.reduce((sum, date, day) => (date >= from && date <= to ? sum + micros(day) : sum), 0) / 1e6;
const totalOn = (day: number) => microsOn(day, 1) + microsOn(day, 2) + 400_000;

onEachStore('the summary of usage costs', (store) => {
  const server = useServer(store, {
    fleet: {
      organizations: [
        { id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts },
        {
          id: globex.id,
          name: 'Globex',
          keys: [{ ...globex.admin, roles: ['admin'] }],
          usageCosts: [
            {
              date: '2026-09-01',
              entityType: 'service',
              entityId: uuid(3),
              dataWarehouseId: uuid(30),
              metrics: { computeCHC: 5 },
            },
          ],
        },
      ],
    },
  });
  const summary = (query: string, { id, admin }: Pick<typeof acme, 'id' | 'admin'> = acme) =>
    server.call({ path: `/v1/organizations/${id}/usageCost/summary?${query}`, key: admin });

  it('U2, U4: compares each day with the previous day, and the whole range with the days before it', async () => {
    const { status, json } = await summary('from_date=2026-09-01&to_date=2026-09-03');
    expect(status).toBe(200);
    expect(json.result.rows.map(({ period }: { period: string }) => period)).toEqual([
      '2026-09-01',
      '2026-09-02',
      '2026-09-03',
    ]);
    const [first] = json.result.rows;
    expect(first).toMatchObject({
      from: '2026-09-01',
      to: '2026-09-01',
      totalCHC: sumDays('2026-09-01', '2026-09-01', totalOn),
      changeCHC: 0.000014,
      previous: { from: '2026-08-31', to: '2026-08-31', totalCHC: sumDays('2026-08-31', '2026-08-31', totalOn) },
    });
    expect(first.metrics).toMatchObject({
      storageCHC: 0.2,
      backupCHC: 0.1,
      publicDataTransferCHC: 0.1,
      initialLoadCHC: 0,
    });
    expect(json.result.totals).toMatchObject({
      from: '2026-09-01',
      to: '2026-09-03',
      totalCHC: sumDays('2026-09-01', '2026-09-03', totalOn),
      previous: { from: '2026-08-29', to: '2026-08-31', totalCHC: sumDays('2026-08-29', '2026-08-31', totalOn) },
    });
  });

  it('U4: rows add up to exactly the totals for every grouping', async () => {
    const totals = [];
    for (const group of ['none', 'entity', 'entityType', 'metric', 'warehouse'])
      for (const by of ['day', 'week', 'month', 'all']) {
        const { json, text } = await summary(`from_date=2026-08-05&to_date=2026-10-02&by=${by}&group=${group}`);
        const micros = json.result.rows.reduce(
          (sum: number, row: { totalCHC: number }) => sum + Math.round(row.totalCHC * 1e6),
          0,
        );
        expect(micros / 1e6, `${by} ${group}`).toBe(json.result.totals.totalCHC);
        expect(text.match(/CHC":-?\d+(\.\d{1,6})?[,}]/g)).toHaveLength(text.match(/CHC":/g)?.length ?? 0);
        const { previous: _, changeCHC: __, changePercent: ___, ...total } = json.result.totals;
        totals.push(total);
      }
    expect(new Set(totals.map((total) => JSON.stringify(total))).size).toBe(1);
    expect(totals[0].totalCHC).toBe(sumDays('2026-08-05', '2026-10-02', totalOn));
  });

  it('groups by ISO weeks and months, cut off at the ends of the range', async () => {
    const weeks = (await summary('from_date=2026-09-02&to_date=2026-09-15&by=week')).json.result.rows;
    expect(weeks.map(({ period, from, to }: Record<string, string>) => [period, from, to])).toEqual([
      ['2026-W36', '2026-09-02', '2026-09-06'],
      ['2026-W37', '2026-09-07', '2026-09-13'],
      ['2026-W38', '2026-09-14', '2026-09-15'],
    ]);
    expect(weeks[1].totalCHC).toBe(sumDays('2026-09-07', '2026-09-13', totalOn));
    expect(weeks[1].previous.totalCHC).toBe(sumDays('2026-08-31', '2026-09-06', totalOn));
    const {
      rows: [month],
      totals,
    } = (await summary('from_date=2026-09-01&to_date=2026-09-30&by=month')).json.result;
    // One month is compared with the same days in its row and in the total.
    expect(totals.previous).toEqual(month.previous);
    expect([month.period, month.totalCHC, month.previous.totalCHC]).toEqual([
      '2026-09',
      sumDays('2026-09-01', '2026-09-30', totalOn),
      sumDays('2026-08-01', '2026-08-31', totalOn),
    ]);
  });

  it('groups by entity (with its last name), type, metric and warehouse', async () => {
    const rows = async (group: string) =>
      (await summary(`from_date=2026-09-01&to_date=2026-09-30&by=month&group=${group}`)).json.result.rows;
    expect(
      (await rows('entity')).map((row: Record<string, string>) => [
        row.entityType,
        row.entityName,
        row.entityId,
        row.dataWarehouseId,
      ]),
    ).toEqual([
      ['datawarehouse', 'first warehouse', uuid(10), uuid(10)],
      ['service', 'new name', uuid(1), uuid(10)],
      ['service', 'second', uuid(2), uuid(20)],
    ]);
    expect((await rows('entityType')).map((row: Record<string, unknown>) => [row.entityType, row.totalCHC])).toEqual([
      ['datawarehouse', 9],
      ['service', sumDays('2026-09-01', '2026-09-30', (day) => totalOn(day) - 300_000)],
    ]);
    expect(
      (await rows('warehouse')).map((row: Record<string, unknown>) => [row.dataWarehouseId, row.dataWarehouseName]),
    ).toEqual([
      [uuid(20), undefined],
      [uuid(10), 'first warehouse'],
    ]);
    expect(
      (await rows('metric')).map((row: Record<string, unknown>) => [row.metric, row.totalCHC, row.metrics]),
    ).toEqual([
      ['backup', 3, undefined],
      ['compute', sumDays('2026-09-01', '2026-09-30', (day) => microsOn(day, 1) + microsOn(day, 2)), undefined],
      ['publicDataTransfer', 3, undefined],
      ['storage', 6, undefined],
    ]);
  });

  it('includes groups that only the previous period has, and no rows without costs', async () => {
    const { rows, totals } = (await summary('from_date=2026-10-10&to_date=2026-10-11')).json.result;
    expect(rows).toMatchObject([{ period: '2026-10-10', totalCHC: 0, previous: { from: '2026-10-09' } }]);
    expect(rows[0].previous.totalCHC).toBe(sumDays('2026-10-09', '2026-10-09', totalOn));
    expect(totals.totalCHC).toBe(0);
    expect((await summary('from_date=2020-01-01&to_date=2020-12-31&by=month&group=entity')).json.result).toMatchObject({
      rows: [],
      totals: { totalCHC: 0, previous: { totalCHC: 0 } },
    });
  });

  it.each([
    [
      'more than 400 days',
      'from_date=2026-01-01&to_date=2027-02-05',
      'query.to_date: The value must be at most 399 days after from_date <string:2027-02-05>',
    ],
    [
      'from_date after to_date',
      'from_date=2026-01-02&to_date=2026-01-01',
      'query.from_date: The value must not be after to_date <string:2026-01-02>',
    ],
    [
      'an impossible date',
      'from_date=2026-02-30&to_date=2026-03-01',
      'query.from_date: The value must be a date (YYYY-MM-DD) or an ISO 8601 date-time <string:2026-02-30>',
    ],
    ['a missing date', 'from_date=2026-01-01', 'query.to_date: The value is required <missing>'],
    [
      'an unknown period',
      'from_date=2026-01-01&to_date=2026-01-01&by=hour',
      'query.by: The value must be one of day, week, month, all <string:hour>',
    ],
    [
      'an unknown group',
      'from_date=2026-01-01&to_date=2026-01-01&group=region',
      'query.group: The value must be one of entity, entityType, metric, warehouse, none <string:region>',
    ],
    [
      'an unknown parameter',
      'from_date=2026-01-01&to_date=2026-01-01&tag=x',
      'query.tag: Unknown parameter <string:x>',
    ],
  ])('U2: rejects %s', async (_, query, error) => {
    const { status, json } = await summary(query);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${error}`]);
  });

  it('U2: accepts 400 days up to the last supported day, and date-times', async () => {
    expect((await summary('from_date=2026-01-01&to_date=2027-02-04&by=month')).status).toBe(200);
    expect((await summary('from_date=9999-01-01&to_date=9999-12-31')).status).toBe(200);
    const { json } = await summary('from_date=2026-09-01T23:30:00-02:00&to_date=2026-09-02T12:00:00Z');
    expect(json.result.rows.map(({ period }: { period: string }) => period)).toEqual(['2026-09-02']);
  });

  it('M4: an organization sees only its own costs', async () => {
    expect((await summary('from_date=2026-09-01&to_date=2026-09-01', globex)).json.result.totals.totalCHC).toBe(5);
    expect((await summary('from_date=2026-09-01&to_date=2026-09-01', { ...acme, id: globex.id })).status).toBe(404);
  });
});
