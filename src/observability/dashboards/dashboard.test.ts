import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { isResourceId } from '../sources/resource-id.ts';
import { compareByName, listDashboardViolations, normalizeDashboard } from './dashboard.ts';
import { Dashboard, DashboardBody } from './schema.ts';

const bodySchema = Compile(DashboardBody);
const dashboardSchema = Compile(Dashboard);

const series = { type: 'time', aggFn: 'count' } as const;
const tile = { x: 0, y: 0, w: 1, h: 1, series: [series] };
const withTiles = (...tiles: object[]) =>
  ({ name: 'd', tiles: tiles.map((one) => ({ ...tile, ...one })) }) as DashboardBody;
const withSeries = (...list: object[]) => withTiles({ series: list });

describe('completing a dashboard', () => {
  it('D4: adds every default and nothing else', () => {
    expect(normalizeDashboard('x', { name: 'd' })).toEqual({ id: 'x', name: 'd', tags: [], tiles: [] });
    const { tiles } = normalizeDashboard('x', withTiles({}));
    expect(tiles).toEqual([
      {
        ...tile,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        name: '',
        asRatio: false,
        series: [{ ...series, where: '', whereLanguage: 'lucene', groupBy: [] }],
      },
    ]);
  });

  it('D3: never generates an id that is already in use', () => {
    const [generated] = normalizeDashboard('x', withTiles({})).tiles;
    const { tiles } = normalizeDashboard('x', withTiles({}, { id: generated?.id }, {}));
    expect(new Set(tiles.map(({ id }) => id)).size).toBe(3);
    expect(tiles[1]?.id).toBe(generated?.id);
  });

  it('uses the member order of the API and removes duplicate tags', () => {
    const given = {
      tiles: [{ ...tile, series: [{ aggFn: 'count', type: 'time' }] }],
      tags: ['b', 'a', 'b'],
      name: 'd',
    };
    const ordered = { name: 'd', tags: ['b', 'a'], tiles: [{ ...tile, series: [{ type: 'time', aggFn: 'count' }] }] };
    expect(JSON.stringify(normalizeDashboard('x', given as DashboardBody))).toBe(
      JSON.stringify(normalizeDashboard('x', ordered as DashboardBody)),
    );
  });

  it('D4, D5: keeps given values unchanged', () => {
    const given = {
      name: 'd',
      tags: ['a'],
      tiles: [
        {
          id: 't',
          name: 'T',
          asRatio: true,
          x: 1,
          y: 2,
          w: 3,
          h: 4,
          series: [
            {
              type: 'table' as const,
              dataSource: 'metrics' as const,
              aggFn: 'quantile' as const,
              level: 0.5,
              field: 'f',
              groupBy: ['g'],
              where: 'w',
              whereLanguage: 'sql' as const,
              sourceId: 's',
              metricName: 'm',
              metricDataType: 'exponential histogram' as const,
              alias: 'A',
              displayType: 'line' as const,
              sortOrder: 'asc' as const,
              numberFormat: { output: 'byte', any: [1] },
            },
          ],
        },
      ],
    };
    expect(normalizeDashboard('x', given)).toEqual({ id: 'x', ...given });
    expect(dashboardSchema.Check(normalizeDashboard('x', given))).toBe(true);
  });

  it('D3: generates tile ids that are unique and deterministic', () => {
    const ids = () => normalizeDashboard('x', withTiles({}, {}, {})).tiles.map(({ id }) => id);
    expect(new Set(ids()).size).toBe(3);
    expect(ids()).toEqual(ids());
  });

  it('F1: is idempotent', () => {
    const once = normalizeDashboard('x', withTiles({}, { id: 't' }));
    const { id, ...rest } = once;
    expect(JSON.stringify(normalizeDashboard(id, rest))).toBe(JSON.stringify(once));
  });
});

describe('validating a dashboard', () => {
  it.each([
    ['a tile that ends in the last column', withTiles({ x: 23, w: 1 }), []],
    ['a tile that ends after the last column', withTiles({}, { x: 20, w: 5 }), ['tiles[1].w']],
    ['a repeated tile id', withTiles({ id: 'a' }, { id: 'b' }, { id: 'a' }), ['tiles[2].id']],
    ['two types in a tile', withSeries(series, { type: 'number', aggFn: 'sum' }), ['tiles[0].series']],
    ['twenty series of one type', withSeries(...Array(20).fill(series)), []],
    ['time without aggFn', withSeries({ type: 'time' }), ['tiles[0].series[0].aggFn']],
    ['table without aggFn', withSeries({ type: 'table' }), ['tiles[0].series[0].aggFn']],
    ['number without aggFn', withSeries({ type: 'number' }), ['tiles[0].series[0].aggFn']],
    ['quantile without level', withSeries({ type: 'number', aggFn: 'quantile' }), ['tiles[0].series[0].level']],
    ['quantile with level 0', withSeries({ type: 'number', aggFn: 'quantile', level: 0 }), []],
    ['markdown without content', withSeries({ type: 'markdown' }), ['tiles[0].series[0].content']],
    ['markdown with empty content', withSeries({ type: 'markdown', content: '' }), []],
    ['search without fields', withSeries({ type: 'search' }), ['tiles[0].series[0].fields']],
    ['search with empty fields', withSeries({ type: 'search', fields: [] }), []],
    [
      'several violations at once',
      withTiles({ x: 23, w: 2, series: [{ type: 'time' }, { type: 'search' }] }),
      ['tiles[0].series', 'tiles[0].series[0].aggFn', 'tiles[0].series[1].fields', 'tiles[0].w'],
    ],
  ])('D3, D5, D6: checks %s', (_, dashboard, paths) => {
    expect(
      listDashboardViolations(dashboard)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(paths);
  });

  it.each([
    ['names of 1 and 1024 characters', [{ name: 'x' }, { name: 'x'.repeat(1024) }], true],
    ['a missing name, an empty name, a name of 1025 characters', [{}, { name: '' }, { name: 'x'.repeat(1025) }], false],
    ['50 tags of 32 characters', [{ name: 'd', tags: Array(50).fill('x'.repeat(32)) }], true],
    [
      '51 tags, a tag of 33 characters',
      [
        { name: 'd', tags: Array(51).fill('x') },
        { name: 'd', tags: ['x'.repeat(33)] },
      ],
      false,
    ],
    ['500 tiles', [withTiles(...Array(500).fill({}))], true],
    ['501 tiles', [withTiles(...Array(501).fill({}))], false],
    ['1 and 20 series', [withSeries(series), withSeries(...Array(20).fill(series))], true],
    ['no series, 21 series', [withSeries(), withSeries(...Array(21).fill(series))], false],
    [
      'groupBy of 10, where of 10,000 characters',
      [withSeries({ ...series, groupBy: Array(10).fill('g'), where: 'w'.repeat(10_000) })],
      true,
    ],
    ['groupBy of 11', [withSeries({ ...series, groupBy: Array(11).fill('g') })], false],
    ['where of 10,001 characters', [withSeries({ ...series, where: 'w'.repeat(10_001) })], false],
    ['the corners of the grid', [withTiles({ x: 23, w: 1 }), withTiles({ w: 24 })], true],
    [
      'outside the grid',
      [{ x: -1 }, { x: 24 }, { x: 0.5 }, { y: -1 }, { w: 0 }, { w: 25 }, { h: 0 }].map((one) => withTiles(one)),
      false,
    ],
    ['a tile id of 36 characters', [withTiles({ id: 'x'.repeat(36) })], true],
    ['a tile id of 37 characters, an empty tile id', [withTiles({ id: 'x'.repeat(37) }), withTiles({ id: '' })], false],
    ['level 0 and 1', [0, 1].map((level) => withSeries({ ...series, level })), true],
    ['level below 0 and above 1', [-0.1, 1.1].map((level) => withSeries({ ...series, level })), false],
    [
      'unknown values',
      [
        { type: 'donut' },
        { aggFn: 'median' },
        { dataSource: 'logs' },
        { whereLanguage: 'kql' },
        { metricDataType: 'counter' },
      ].map((one) => withSeries({ ...series, ...one })),
      false,
    ],
    [
      'every aggregation',
      ['avg', 'count', 'count_distinct', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none', 'increase'].map(
        (aggFn) => withSeries({ ...series, aggFn }),
      ),
      true,
    ],
  ])('D5, D6: checks %s', (_, dashboards, isValid) => {
    for (const dashboard of dashboards)
      expect(bodySchema.Check(dashboard), JSON.stringify(dashboard).slice(0, 200)).toBe(isValid);
  });

  it.each([
    ['a', true],
    ['A_b-9', true],
    ['x'.repeat(64), true],
    ['', false],
    ['x'.repeat(65), false],
    ['a b', false],
    ['ä', false],
    ['a/b', false],
    ['a\n', false],
  ])('D3: checks the dashboard id %j', (id, isValid) => {
    expect(isResourceId(id)).toBe(isValid);
  });
});

describe('sorting dashboards', () => {
  const named = (name: string, id: string) => normalizeDashboard(id, { name });

  it('D2: sorts by name descending as UTF-8 bytes, then by id ascending', () => {
    // In UTF-16 order, 😀 would come before ｱ; in locale order, ä before b.
    const sorted = ['😀', 'ｱ', 'ä', 'b', 'a', 'Z', ''].map((name) => named(name, 'x'));
    expect([...sorted].reverse().sort(compareByName)).toEqual(sorted);
    expect(
      [named('a', 'b'), named('b', 'c'), named('a', 'B'), named('a', 'a')].sort(compareByName).map(({ id }) => id),
    ).toEqual(['c', 'B', 'a', 'b']);
  });

  it('D2: does not depend on the original order', () => {
    const dashboards = fc.uniqueArray(
      fc.tuple(fc.string({ unit: 'binary', maxLength: 3 }), fc.constantFrom('a', 'b', 'B', '0')),
      {
        selector: ([name, id]) => `${name}/${id}`,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(dashboards, (list) => {
        const all = list.map(([name, id]) => named(name, id));
        expect([...all].reverse().sort(compareByName)).toEqual([...all].sort(compareByName));
      }),
    );
  });
});
