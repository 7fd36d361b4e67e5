import { expect, it } from 'vitest';
import { alignPrevious, findPreviousRange, hasNoRows } from '../../console/src/pages/dashboards/compare/previous.ts';
import { toCsv } from '../../console/src/pages/dashboards/tiles/tile-csv.ts';
import { textCell } from '../../console/src/parts/format/csv.ts';
import { textCell as serverTextCell } from '../../src/kernel/csv.ts';
import { parseCsv } from '../support/csv.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 9, 20);
const frame = { start: T0, end: T0 + 2 * HOUR, timezone: 'UTC' };
const place = { id: 't', name: 'T', asRatio: false, x: 0, y: 0, w: 1, h: 1 };
const tile = (more: object = {}) => ({
  ...place,
  series: [{ type: 'time' as const, where: '', whereLanguage: 'lucene' as const, groupBy: [], ...more }],
});
const times = (starts: number[], values: (number | null)[], more: object = {}) => ({
  type: 'time' as const,
  ...frame,
  granularity: '1h',
  buckets: starts,
  series: [{ name: 'count', seriesIndex: 0, group: ['api'], isOthers: false, values, ...more }],
  groups: { shown: 1, total: 1 },
});

it('escapes text as the exports of the server do', () => {
  const hostile = ['=1+1', '+1', '-1', '@x', ' =x', '\t=x', '＝x', '\ufeff=x', 'a"b', 'a,b', 'a\nb', '\r', "'x", ''];
  expect(hostile.map(textCell)).toEqual(hostile.map(serverTextCell));
});

it('writes every type of data with names and units; numbers stay numbers', () => {
  const csv = (data: Parameters<typeof toCsv>[1]) => parseCsv(toCsv(tile(), data) ?? '');
  expect(csv(times([T0, T0 + HOUR], [-1.5, null], { unit: 'ms' }))).toEqual([
    ['time', 'api (ms)'],
    [new Date(T0).toISOString(), '-1.5'],
    [new Date(T0 + HOUR).toISOString(), ''],
  ]);
  const series = [{ name: 'sum', value: '-18446744073709551615' }];
  expect(csv({ type: 'number', ...frame, value: null, series })).toEqual([
    ['series', 'value', 'unit'],
    ['sum', '-18446744073709551615', ''],
  ]);
  const part = { name: 'count', group: ['-a', ''], isOthers: false, value: 2 };
  const parts = [part, { ...part, isOthers: true, value: 1 }];
  expect(csv({ type: 'pie', ...frame, parts, groups: { shown: 1, total: 9 } })).toEqual([
    ['series', 'group', 'value', 'unit'],
    ['count', "'-a, (empty)", '2', ''],
    ['count', 'Other', '1', ''],
  ]);
  const bins = [{ from: 0, to: 5, count: 3 }];
  const histogram = { type: 'histogram' as const, ...frame, name: 'ms', unit: 'ms' as const, count: 3, bins };
  expect(csv({ ...histogram, scale: 'linear' })).toEqual([
    ['from (ms)', 'to (ms)', 'count'],
    ['0', '5', '3'],
  ]);
  const heatmap = { type: 'heatmap' as const, ...frame, name: 'ms', granularity: '1h', buckets: [T0] };
  const rows = [{ from: 0, to: 5, values: [3] }];
  expect(csv({ ...heatmap, mode: 'distribution', scale: 'linear', rows })).toEqual([
    ['time', '0 to 5'],
    [new Date(T0).toISOString(), '3'],
  ]);
  const found = [[T0, '=x', { a: 1 }, null]];
  const columns = ['Timestamp', 'Body', 'Attributes', 'Empty'].map((name) => ({ name }));
  expect(csv({ type: 'search', ...frame, columns, rows: found, truncated: false })).toEqual([
    ['Timestamp', 'Body', 'Attributes', 'Empty'],
    [new Date(T0).toISOString(), "'=x", '{"a":1}', ''],
  ]);
  expect(toCsv(tile(), { type: 'markdown', content: 'x' })).toBeUndefined();
});

it('the previous period has the same length and the same buckets', () => {
  const data = times([T0, T0 + HOUR, T0 + 2 * HOUR], [1, 2, 3]);
  // The last hour but one is extended to whole buckets.
  const window = { start: T0 + 10, end: T0 + 2 * HOUR + 10 };
  const range = findPreviousRange({ ...data, end: T0 + 3 * HOUR }, window);
  expect(range).toEqual({ shift: 2 * HOUR, start: T0 - 2 * HOUR, end: T0 + HOUR, granularity: '1h' });
  const odd = findPreviousRange(data, { start: T0, end: T0 + 1.5 * HOUR });
  expect(odd?.shift).toBe(2 * HOUR);
  const before = times([T0 - 2 * HOUR, T0 - HOUR, T0], [7, null, 8]);
  expect(alignPrevious(data, before, 2 * HOUR)).toEqual([[7, null, 8]]);
  expect(alignPrevious(data, times(before.buckets, [7, 8, 9], { group: ['web'] }), 2 * HOUR)).toEqual([
    [null, null, null],
  ]);
  // Days of 25 hours move the buckets by an hour.
  const days = times([T0 + 7 * DAY + HOUR, T0 + 8 * DAY + HOUR], [1, 2]);
  expect(alignPrevious(days, times([T0 - DAY, T0, T0 + DAY], [5, 6, 7]), 7 * DAY)).toEqual([[6, 7]]);
  // Nothing is repeated where the other period ends.
  expect(alignPrevious(data, times([T0 - 2 * HOUR, T0 - HOUR], [7, 8]), 2 * HOUR)).toEqual([[7, 8, null]]);
});

it('zeros of a count are no rows; those of a value are data', () => {
  expect(hasNoRows(tile({ aggFn: 'count' }), [0, null])).toBe(true);
  expect(hasNoRows(tile({ aggFn: 'count' }), [0, 1])).toBe(false);
  expect(hasNoRows(tile({ aggFn: 'max' }), [0, null])).toBe(false);
  expect(hasNoRows(tile({ aggFn: 'max' }), [null])).toBe(true);
});
