import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseCsvRecords } from '../support/csv.ts';
import { acme, globex } from '../support/fleet.ts';
import { FOCUS_1_3_COLUMNS, FOCUS_RULES, findFocusViolations, parseMicros } from '../support/focus.ts';
import { type LedgerLine, putLedger } from '../support/ledger.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const pipe = '6de48484-c180-4164-85bd-81c39c70f477';
const METRICS = ['backup', 'compute', 'dataTransfer', 'initialLoad', 'interRegionTier1DataTransfer', 'storage'];

const cost = (date: string, entityType: string, entityId: string, metrics: object, more: object = {}) => ({
  date,
  entityType,
  entityId,
  metrics,
  ...more,
});

/** Metered days, an adjustment within the month, one of the previous month, and an imported record. */
const fleet = {
  organizations: [
    {
      id: acme.id,
      name: '=Acme, "the" company',
      tier: 'SCALE',
      services: [
        {
          id: acme.primary,
          name: '@analytics',
          dataWarehouseId: acme.warehouse,
          isPrimary: true,
          provider: 'aws',
          region: 'eu-central-1',
        },
      ],
      keys: [
        { ...acme.admin, roles: ['admin'] },
        { ...acme.developer, roles: ['developer'] },
        { ...acme.query, roles: ['query_endpoints'] },
      ],
      usageCosts: [
        cost('2026-09-30', 'service', acme.primary, { computeCHC: 12.345678 }, { locked: true }),
        cost('2026-10-01', 'service', acme.primary, { computeCHC: 8.955, publicDataTransferCHC: 0.142222 }),
        cost('2026-10-01', 'datawarehouse', acme.warehouse, { storageCHC: 0.345628, backupCHC: 0 }),
        // 0.4975 of the same day, 0.995 of the day before, -0.0001 of the previous month, and 1 without an entry.
        cost('2026-10-02', 'service', acme.primary, { computeCHC: 2.4924 }),
        cost(
          '2026-10-02',
          'clickpipe',
          pipe,
          { dataTransferCHC: 0.04 },
          {
            entityName: 'pipe, "quoted"\r\nand broken',
            serviceId: acme.primary,
            dataWarehouseId: acme.warehouse,
          },
        ),
      ],
    },
    {
      id: globex.id,
      name: 'Globex',
      keys: [{ ...globex.admin, roles: ['admin'] }],
      services: [{ id: globex.primary, name: 'main', numReplicas: 2 }],
      usageCosts: [cost('2026-10-01', 'service', globex.primary, { computeCHC: 99.5 })],
    },
  ],
};

const entry = (line: Partial<LedgerLine>): LedgerLine => ({
  organizationId: acme.id,
  date: '2026-10-01',
  entityType: 'service',
  entityId: acme.primary,
  meter: 'compute',
  quantity: '0',
  unitPrice: '0.2985',
  micros: 0,
  ...line,
});

const ledger = [
  entry({ quantity: '1800', micros: 8_955_000 }),
  entry({ meter: 'publicDataTransfer', quantity: '1234567891', unitPrice: '0.1152', micros: 142_222 }),
  entry({
    entityType: 'datawarehouse',
    entityId: acme.warehouse,
    meter: 'storage',
    quantity: '10000000000000.5',
    unitPrice: '25.30',
    micros: 345_628,
  }),
  entry({ date: '2026-10-02', quantity: '100', micros: 497_500 }),
  entry({ date: '2026-10-02', usageDate: '2026-10-01', quantity: '200', micros: 995_000 }),
  entry({ date: '2026-10-02', usageDate: '2026-09-30', quantity: '-0.02', micros: -100 }),
  entry({
    date: '2026-10-02',
    entityType: 'clickpipe',
    entityId: pipe,
    meter: 'dataTransfer',
    quantity: '1000000000',
    unitPrice: '0.04',
    micros: 40_000,
  }),
];

const exportPath = (query: string, id = acme.id) => `/v1/organizations/${id}/usageCost/export?${query}`;

async function usageCost(server: TestServer) {
  const path = `/v1/organizations/${acme.id}/usageCost?from_date=2026-09-15&to_date=2026-10-15`;
  return (await server.call({ path, key: acme.admin })).json.result;
}

onEachStore('the export of usage costs', (store) => {
  const server = useServer(store, { fleet });
  let isFilled = false;
  const file = async (query: string, headers: Record<string, string> = {}) => {
    if (!isFilled) await putLedger(server, ledger);
    isFilled = true;
    return server.call({
      path: exportPath(query),
      key: acme.admin,
      headers: { 'accept-encoding': 'identity', ...headers },
    });
  };
  const focus = async () => parseCsvRecords((await file('from_date=2026-09-01&to_date=2026-10-31&format=focus')).text);

  it('U1, U4: as CSV has one line per record, with the names and amounts of usageCost', async () => {
    const { status, headers, text } = await file('from_date=2026-09-01&to_date=2026-10-31');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage-cost-2026-09-01-2026-10-31.csv"');
    const records = parseCsvRecords(text);
    const { costs } = await usageCost(server);
    expect(records).toHaveLength(costs.length);
    const key = (record: Record<string, unknown>) => `${record.date} ${record.entityType} ${record.entityId}`;
    for (const record of costs) {
      const line = records.find((candidate) => key(candidate) === key(record));
      expect(line).toMatchObject({
        serviceId: record.serviceId ?? '',
        dataWarehouseId: record.dataWarehouseId,
        locked: String(record.locked),
        totalCHC: String(record.totalCHC),
        ...Object.fromEntries(Object.entries(record.metrics).map(([name, value]) => [name, String(value)])),
      });
    }
    expect(records.map(({ date }) => date)).toEqual(records.map(({ date }) => date).toSorted());
  });

  it('neutralizes formulas and quotes text where needed', async () => {
    const { text } = await file('from_date=2026-10-01&to_date=2026-10-31');
    const names = parseCsvRecords(text).map(({ entityName }) => entityName);
    expect(names).toContain("'@analytics");
    expect(names).toContain('pipe, "quoted"\r\nand broken');
    expect((await focus())[0]).toMatchObject({ BillingAccountName: `'=Acme, "the" company` });
  });

  it('as FOCUS 1.2 has every mandatory column, with custom columns last', async () => {
    const { headers, text } = await file('from_date=2026-09-01&to_date=2026-10-31&format=focus');
    expect(headers.get('content-disposition')).toBe('attachment; filename="focus-1.2-2026-09-01-2026-10-31.csv"');
    const columns = (text.split('\r\n')[0] ?? '').split(',');
    const mandatory = Object.keys(FOCUS_RULES).filter((column) => FOCUS_RULES[column]?.level === 'Mandatory');
    expect(mandatory).toHaveLength(21);
    expect(columns).toEqual(expect.arrayContaining(Object.keys(FOCUS_RULES)));
    expect(new Set(columns).size).toBe(columns.length);
    const own = columns.filter((column) => !FOCUS_RULES[column] && !FOCUS_1_3_COLUMNS.includes(column));
    expect(own).toEqual(['x_EntityType', 'x_Locked', 'x_PriceVersion', 'x_UsageDate']);
    expect(columns.slice(-own.length)).toEqual(own);
  });

  it('as FOCUS 1.2 follows the rules of the specification on every line', async () => {
    const rows = await focus();
    expect(rows).toHaveLength(9);
    for (const row of rows) expect(findFocusViolations(row), JSON.stringify(row)).toEqual([]);
  });

  it('U4: as FOCUS 1.2 adds up to exactly the amounts of usageCost, day by day', async () => {
    const rows = await focus();
    const { costs, grandTotalCHC } = await usageCost(server);
    const micros = (some: Record<string, string>[]) =>
      some.reduce((sum, { BilledCost = '' }) => sum + parseMicros(BilledCost), 0n);
    expect(micros(rows)).toBe(parseMicros(String(grandTotalCHC)));
    for (const record of costs) {
      const own = rows.filter(
        (row) => row.ResourceId === record.entityId && row.ChargePeriodStart?.startsWith(record.date),
      );
      expect(micros(own)).toBe(parseMicros(String(record.totalCHC)));
      for (const metric of METRICS) {
        const lines = own.filter(({ SkuId }) => SkuId === `${record.entityType}.${metric}`);
        expect(micros(lines)).toBe(parseMicros(String(record.metrics[`${metric}CHC`])));
      }
    }
  });

  it('as FOCUS 1.2 has quantities, prices and units', async () => {
    const rows = await focus();
    const find = (day: string, meter: string) =>
      rows.find(
        (row) => row.ChargePeriodStart === `${day}T00:00:00Z` && row.SkuId === meter && row.ChargeCategory === 'Usage',
      );
    expect(find('2026-10-01', 'service.compute')).toMatchObject({
      BilledCost: '8.955',
      PricingQuantity: '30',
      PricingUnit: 'Unit-Hours',
      ConsumedQuantity: '1800',
      ConsumedUnit: 'Unit-Minutes',
      ListUnitPrice: '0.2985',
      SkuPriceId: 'service.compute/SCALE',
      SkuMeter: 'Compute',
      ChargeDescription: 'Compute, service @analytics',
      ChargePeriodEnd: '2026-10-02T00:00:00Z',
      BillingPeriodStart: '2026-10-01T00:00:00Z',
      BillingPeriodEnd: '2026-11-01T00:00:00Z',
      RegionId: 'eu-central-1',
      ResourceType: 'Service',
      SubAccountId: acme.warehouse,
      SubAccountName: "'@analytics warehouse",
      HostProviderName: 'aws',
      ServiceProviderName: 'Pilothouse',
      x_EntityType: 'service',
      x_Locked: 'false',
      x_PriceVersion: '1',
    });
    expect(find('2026-10-01', 'service.publicDataTransfer')).toMatchObject({
      PricingQuantity: '1.234567891',
      PricingUnit: 'GB',
      ConsumedQuantity: '1.234567891',
      SkuPriceId: 'service.publicDataTransfer/any',
    });
    expect(find('2026-10-01', 'datawarehouse.storage')).toMatchObject({
      PricingUnit: 'TB-Months',
      ConsumedQuantity: '10000.0000000005',
      ConsumedUnit: 'GB-Hours',
      ResourceType: 'Data Warehouse',
    });
  });

  it('U5: marks late usage as an adjustment, and as a correction only for an earlier month', async () => {
    const rows = (await focus()).filter(({ ChargeCategory }) => ChargeCategory === 'Adjustment');
    expect(
      rows.map((row) => [row.x_UsageDate, row.BilledCost, row.ChargeClass, row.ConsumedQuantity, row.PricingQuantity]),
    ).toEqual([
      ['2026-09-30', '-0.0001', 'Correction', '', '-0.000333333334'],
      ['2026-10-01', '0.995', '', '', '3.333333333333'],
    ]);
    for (const row of rows) expect(row.ChargePeriodStart).toBe('2026-10-02T00:00:00Z');
  });

  it('exports an imported amount as the quantity, at a price of 1', async () => {
    const rows = (await focus()).filter(({ PricingUnit }) => PricingUnit === 'CHC');
    expect(
      rows.map((row) => [
        row.ChargePeriodStart?.slice(0, 10),
        row.PricingQuantity,
        row.ListUnitPrice,
        row.ConsumedUnit,
        row.x_PriceVersion,
      ]),
    ).toEqual([
      ['2026-09-30', '12.345678', '1.00', 'CHC', ''],
      ['2026-10-02', '1', '1.00', 'CHC', ''],
    ]);
    expect(rows[0]).toMatchObject({ x_Locked: 'true', SkuPriceId: 'service.compute/amount' });
  });

  it('is compressed if the client accepts gzip', async () => {
    const query = 'from_date=2026-09-01&to_date=2026-10-31&format=focus';
    const plain = await file(query);
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding']);
    const bytes = await raw(server, exportPath(query), { 'accept-encoding': 'br;q=1, gzip;q=0.5' });
    expect(bytes.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bytes.body).toString()).toBe(plain.text);
    const uncompressed = await raw(server, exportPath(query), { 'accept-encoding': 'gzip;q=0, identity' });
    expect(uncompressed.headers['content-encoding']).toBeUndefined();
  });

  it('U1: accepts any range; a range without costs returns only a header', async () => {
    expect(parseCsvRecords((await file('from_date=0001-01-01&to_date=2025-12-31')).text)).toEqual([]);
    expect(parseCsvRecords((await file('from_date=0001-01-01&to_date=9999-12-31')).text)).toHaveLength(5);
  });

  it.each([
    [
      'from_date=2026-10-02&to_date=2026-10-01',
      'query.from_date: The value must not be after to_date <string:2026-10-02>',
    ],
    [
      'from_date=2026-10-02&to_date=2026-10-03&format=xlsx',
      'query.format: The value must be one of csv, focus <string:xlsx>',
    ],
    ['to_date=2026-10-01', 'query.from_date: The value is required <missing>'],
  ])('U2: rejects %s', async (query, error) => {
    const { status, json } = await file(query);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${error}`]);
  });

  it('M4, R1: contains only costs of the organization, and requires a role that can read them', async () => {
    const { text } = await server.call({
      path: exportPath('from_date=2026-01-01&to_date=2026-12-31&format=focus', globex.id),
      key: globex.admin,
    });
    expect(parseCsvRecords(text).map(({ ResourceId, BilledCost }) => [ResourceId, BilledCost])).toEqual([
      [globex.primary, '99.5'],
    ]);
    expect(text).not.toContain(acme.primary);
    const statuses = [];
    for (const key of [acme.developer, acme.query, globex.admin])
      statuses.push((await server.call({ path: exportPath('from_date=2026-10-01&to_date=2026-10-01'), key })).status);
    expect(statuses).toEqual([200, 403, 404]);
  });
});

interface Raw {
  headers: Record<string, unknown>;
  body: Buffer;
}

/** The raw bytes, which `fetch` would decompress. */
function raw(server: TestServer, path: string, headers: Record<string, string> = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    request(server.url + path, { headers: { authorization: authorization(), ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

const authorization = () => `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;

onEachStore('a long export', (store) => {
  const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
  const usageCosts = Array.from({ length: 20 * 300 }, (_, index) => ({
    date: `2026-03-${String((index % 20) + 1).padStart(2, '0')}`,
    entityType: index % 3 === 0 ? 'service' : 'clickpipe',
    entityId: uuid(Math.floor(index / 20)),
    entityName: `entity ${index}`,
    serviceId: uuid(1),
    dataWarehouseId: uuid(2),
    metrics: { computeCHC: (index + 1) / 1e6 },
  }));
  const server = useServer(store, {
    fleet: { organizations: [{ id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts }] },
    inProcess: false,
  });

  it('contains each record once and is always the same', async () => {
    const query = 'from_date=2026-03-01&to_date=2026-03-31';
    const { text } = await server.call({ path: exportPath(query), key: acme.admin });
    const records = parseCsvRecords(text);
    expect(new Set(records.map(({ date, entityType, entityId }) => `${date} ${entityType} ${entityId}`)).size).toBe(
      6000,
    );
    expect(records).toHaveLength(6000);
    const total = records.reduce((sum, { totalCHC = '' }) => sum + parseMicros(totalCHC), 0n);
    expect(total).toBe(BigInt((6000 * 6001) / 2));
    const digest = (some: string) => createHash('sha256').update(some).digest('hex');
    const again = await Promise.all([1, 2, 3].map(() => server.call({ path: exportPath(query), key: acme.admin })));
    expect(new Set(again.map((response) => digest(response.text)))).toEqual(new Set([digest(text)]));
  });

  it('ends when the client disconnects, and the server keeps running', async () => {
    const path = exportPath('from_date=2026-03-01&to_date=2026-03-31&format=focus');
    for (let round = 0; round < 5; round++)
      await new Promise<void>((resolve) => {
        const call = request(server.url + path, { headers: { authorization: authorization() } }, (response) => {
          response.once('data', () => {
            response.destroy();
            resolve();
          });
          response.on('error', () => {});
        });
        call.on('error', () => {});
        call.end();
      });
    const { text } = await server.call({
      path: exportPath('from_date=2026-03-01&to_date=2026-03-01'),
      key: acme.admin,
    });
    expect(parseCsvRecords(text)).toHaveLength(300);
    expect(server.log()).not.toMatch(/"level":50/);
    await until(
      async () => (await server.call({ path: '/metrics' })).text,
      (text) => /pilothouse_requests_total\{operation="usageCostExport"/.test(text),
      'the export is not in the metrics',
    );
  });
});

describe('the FOCUS rules of these tests', () => {
  it('detect violations', () => {
    const good = Object.fromEntries(Object.keys(FOCUS_RULES).map((column) => [column, 'x']));
    expect(findFocusViolations({ ...good, BilledCost: '1,000' })).toContain('BilledCost is not a decimal: 1,000');
    expect(findFocusViolations({ ...good, ListCost: '' })).toContain('ListCost is null');
    expect(findFocusViolations({ ...good, ChargeCategory: 'Adjustment', ConsumedQuantity: '1' })).toContain(
      'ConsumedQuantity must be null',
    );
    expect(findFocusViolations({ ...good, ListUnitPrice: '1' })).toContain('ListUnitPrice is not a price: 1');
    const priced = { ...good, PricingQuantity: '2', ListUnitPrice: '0.5', ListCost: '1.000001' };
    expect(
      findFocusViolations({
        ...priced,
        ContractedUnitPrice: '',
        PricingCurrencyListUnitPrice: '',
        PricingCurrencyContractedUnitPrice: '',
      }),
    ).toContain('2 × ListUnitPrice 0.5 is not ListCost 1.000001');
  });
});
