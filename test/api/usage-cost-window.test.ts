import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const DATE_RULE = 'The value must be a date (YYYY-MM-DD) or an ISO 8601 date-time';

onEachStore('the date range of usage costs', (store) => {
  const server = useServer(store);
  const read = (query: string) =>
    server.call({ path: `/v1/organizations/${acme.id}/usageCost${query}`, key: acme.admin });
  const window = (from: string, to: string) => read(`?${new URLSearchParams({ from_date: from, to_date: to })}`);

  it.each([
    ['2026-10-01', '2026-10-01', ['2026-10-01']],
    ['2026-10-01', '2026-10-02', ['2026-10-01', '2026-10-02']],
    ['2026-10-02', '2026-10-31', ['2026-10-02']],
    ['2026-09-01', '2026-10-01', ['2026-10-01']],
    ['2026-10-01T00:00:00Z', '2026-10-01T23:59:59.999Z', ['2026-10-01']],
    ['2026-10-02t12:00:00z', '2026-10-02T12:00:00.5Z', ['2026-10-02']],
    ['2026-10-02T01:30:00+02:00', '2026-10-02T01:30:00+02:00', ['2026-10-01']],
    ['2026-10-01T23:30:00-01:00', '2026-10-01T23:30:00-01:00', ['2026-10-02']],
    ['2026-10-02T00:30:00+0100', '2026-10-02T00:30:00+0100', ['2026-10-01']],
    ['2026-10-02T00:00:00', '2026-10-02T23:59:59', ['2026-10-02']],
    ['2026-10-02T00:00', '2026-10-02T23:59', ['2026-10-02']],
  ])('U2: from %s to %s covers the UTC days %j', async (from, to, days) => {
    const { status, json } = await window(from, to);
    expect(status).toBe(200);
    expect([...new Set(json.result.costs.map(({ date }: { date: string }) => date))]).toEqual(days);
  });

  it.each([
    ['', 'query.from_date: The value is required <missing>; query.to_date: The value is required <missing>'],
    ['?from_date=2026-10-01', 'query.to_date: The value is required <missing>'],
    ['?to_date=2026-10-01', 'query.from_date: The value is required <missing>'],
    [
      '?from_date=2026-10-01&from_date=2026-10-01&to_date=2026-10-01',
      'query.from_date: The value must be a string <array>',
    ],
    [
      '?from_date=2026-10-01&to_date=2026-10-01&to_date=2026-10-02',
      'query.to_date: The value must be a string <array>',
    ],
    [
      '?from_date=2026-10-02&to_date=2026-10-01',
      'query.from_date: The value must not be after to_date <string:2026-10-02>',
    ],
    [
      '?from_date=2026-10-01&to_date=2026-11-01',
      'query.to_date: The value must be at most 30 days after from_date <string:2026-11-01>',
    ],
    [
      '?from_date=2026-10-01&to_date=9999-12-31',
      'query.to_date: The value must be at most 30 days after from_date <string:9999-12-31>',
    ],
    [
      '?from_date=2026-02-30&to_date=x',
      `query.from_date: ${DATE_RULE} <string:2026-02-30>; query.to_date: ${DATE_RULE} <string:x>`,
    ],
  ])('U2: rejects usageCost%s', async (query, text) => {
    const { status, json } = await read(query);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${text}`]);
  });

  it.each([
    ['2026-10-01', '2026-10-31'],
    ['2024-02-01', '2024-03-02'],
    ['2026-12-15', '2027-01-14'],
    ['2026-10-01T23:59:59Z', '2026-10-31T00:00:00Z'],
  ])('U2: from %s to %s is 31 days, which is allowed', async (from, to) => {
    expect((await window(from, to)).status).toBe(200);
  });

  it.each([
    ['2026-10-01', '2026-11-01'],
    ['2025-02-01', '2025-03-04'],
    ['2026-10-01T00:30:00+01:00', '2026-10-31'],
    ['2026-10-01', '2026-10-31T23:30:00-01:00'],
  ])('U2: from %s to %s is 32 days, which is rejected', async (from, to) => {
    expect((await window(from, to)).status).toBe(400);
  });

  it.each([
    '',
    'yesterday',
    '2026-10',
    '20261001',
    '2026-10-1',
    '2026-13-01',
    '2026-00-10',
    '2026-10-00',
    '2026-02-29',
    '2026-02-30',
    '2026-10-01Z',
    ' 2026-10-01',
    '2026-10-01T10',
    '2026-10-01 10:00:00',
    '2026-10-01T24:30:00Z',
    '2026-10-01T10:60:00Z',
    '2026-10-01T00:00:60Z',
    '2026-10-01T10:00:00+24:00',
    '2026-02-30T10:00:00Z',
    '0000-12-31',
    '10000-01-01',
    '9999-12-31T23:30:00-01:00',
    '1790812800',
    '２０２６-10-01',
  ])('U2: %j is not a date', async (text) => {
    const { status, json } = await window(text, '2026-10-01');
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: query.from_date: ${DATE_RULE} <string:${text}>`]);
  });

  it('B4: rejects an unknown query parameter by name', async () => {
    const { status, json } = await read('?from_date=2026-10-01&to_date=2026-10-01&granularity=hour');
    expect([status, json.error]).toEqual([400, 'BAD_REQUEST: query.granularity: Unknown parameter <string:hour>']);
  });

  it('B4: parameter names are case-sensitive', async () => {
    const { json } = await read('?from_date=2026-10-01&toDate=2026-10-01');
    expect(json.error).toContain('query.to_date: The value is required <missing>');
    expect(json.error).toContain('query.toDate: Unknown parameter <string:2026-10-01>');
  });
});
