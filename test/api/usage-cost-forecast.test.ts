import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const DAY_MS = 86_400_000;
const now = Date.now();
const formatDaysAgo = (back: number) => new Date(now - back * DAY_MS).toISOString().slice(0, 10);
const today = formatDaysAgo(0);
const month = today.slice(0, 7);
const uuid = '00000000-0000-4000-8000-000000000001';
const warehouse = '00000000-0000-4000-8000-000000000002';

/** Weekends cost half; all weeks are the same. */
const costOn = (date: string) => ([0, 6].includes(new Date(`${date}T00:00:00Z`).getUTCDay()) ? 1.5 : 3);
const entity = { entityType: 'service', entityId: uuid, dataWarehouseId: warehouse };
const usageCosts = [
  ...Array.from({ length: 100 }, (_, back) => formatDaysAgo(back + 1)).map((date) => ({
    ...entity,
    date,
    metrics: { computeCHC: costOn(date) },
  })),
  { ...entity, date: today, metrics: { computeCHC: 0.25 } },
];

const listDays = (name: string) => {
  const first = Date.parse(`${name}-01T00:00:00Z`);
  return Array.from({ length: 31 }, (_, day) => new Date(first + day * DAY_MS).toISOString().slice(0, 10)).filter(
    (day) => day.startsWith(name),
  );
};
const wholeMonth = (name: string) => listDays(name).reduce((sum, day) => sum + costOn(day), 0);

onEachStore('the forecast of usage costs', (store) => {
  const server = useServer(store, {
    fleet: {
      organizations: [
        { id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts },
        { id: globex.id, name: 'Globex', keys: [{ ...globex.admin, roles: ['admin'] }] },
      ],
    },
  });
  const forecast = (query = '', { id, admin }: Pick<typeof acme, 'id' | 'admin'> = acme) =>
    server.call({ path: `/v1/organizations/${id}/usageCost/forecast${query}`, key: admin });

  it('is exact when all weeks are the same, with a range and the previous month', async () => {
    const { status, json } = await forecast();
    expect(status).toBe(200);
    const { result } = json;
    const before = new Date(Date.parse(`${month}-01T00:00:00Z`) - DAY_MS).toISOString().slice(0, 7);
    const monthToDate = listDays(month)
      .filter((day) => day < today)
      .reduce((sum, day) => sum + costOn(day), 0.25);
    expect(result).toMatchObject({
      month,
      monthToDate: { through: today, totalCHC: monthToDate },
      previousMonth: { month: before, totalCHC: wholeMonth(before) },
      changeCHC: wholeMonth(month) - wholeMonth(before),
      historyDays: 100,
    });
    expect(result.forecast.expectedCHC).toBe(wholeMonth(month));
    expect(result.metrics.computeCHC).toBe(wholeMonth(month));
    expect(result.forecast.lowCHC).toBeLessThan(wholeMonth(month));
    expect(result.forecast.lowCHC).toBeGreaterThan(result.forecast.expectedCHC * 0.98);
    expect(result.forecast.highCHC).toBeGreaterThan(wholeMonth(month));
    expect(result.days.map(({ date }: { date: string }) => date)).toEqual(listDays(month));
    expect(result.days.filter(({ expected }: { expected: boolean }) => !expected)).toHaveLength(
      Number(today.slice(8)) - 1,
    );
    const micros = result.days.reduce(
      (sum: number, day: { totalCHC: number }) => sum + Math.round(day.totalCHC * 1e6),
      0,
    );
    expect(micros / 1e6).toBe(result.forecast.expectedCHC);
  });

  it('is the actual cost for a past month, and available for the next month', async () => {
    const past = new Date(Date.parse(`${month}-01T00:00:00Z`) - DAY_MS).toISOString().slice(0, 7);
    const { result } = (await forecast(`?month=${past}`)).json;
    expect(result.forecast).toEqual({
      lowCHC: wholeMonth(past),
      expectedCHC: wholeMonth(past),
      highCHC: wholeMonth(past),
    });
    const next = new Date(Date.parse(`${month}-15T00:00:00Z`) + 30 * DAY_MS).toISOString().slice(0, 7);
    const ahead = (await forecast(`?month=${next}`)).json.result;
    expect(ahead.forecast.expectedCHC).toBe(wholeMonth(next));
    expect(ahead.monthToDate).toMatchObject({ totalCHC: 0 });
    expect(ahead.monthToDate).not.toHaveProperty('through');
    expect(ahead.previousMonth.totalCHC).toBe(wholeMonth(month));
  });

  it('is 0 without costs', async () => {
    const { result } = (await forecast('', globex)).json;
    expect(result).toMatchObject({ forecast: { lowCHC: 0, expectedCHC: 0, highCHC: 0 }, historyDays: 0, changeCHC: 0 });
    expect(result).not.toHaveProperty('changePercent');
  });

  it.each(['2026-13', '2026-1', '2026', 'next', '2026-10-01'])('rejects the month %s', async (text) => {
    const { status, json } = await forecast(`?month=${text}`);
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: query.month: The value must be a month (YYYY-MM) <string:${text}>`);
  });

  it('rejects a month more than a year ahead', async () => {
    const { status, json } = await forecast('?month=9999-12');
    expect(status).toBe(400);
    expect(json.error).toMatch(
      /^BAD_REQUEST: query\.month: The value must be \d{4}-\d{2} at the latest <string:9999-12>$/,
    );
  });
});
