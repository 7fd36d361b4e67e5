import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { anyConfig } from '../../../../test/support/configs.ts';
import { anySeriesTile } from '../../../../test/support/dashboards.ts';
import { joinExpressions, splitExpressions } from '../queries/expression-list.ts';
import { isSameMeaning, toConfig, toSeries } from './config.ts';
import { TileConfig } from './config-schema.ts';
import {
  type ContentBody,
  keepOtherForm,
  listContentViolations,
  normalizeContent,
  toConfigForm,
} from './tile-content.ts';

const configSchema = Compile(TileConfig);

describe('a tile in both forms', () => {
  it('any config is kept: the config form of the stored content is the config that was sent', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const body = { config } as ContentBody;
        expect(configSchema.Check(config), JSON.stringify(config)).toBe(true);
        expect(listContentViolations(body, '')).toEqual([]);
        const content = normalizeContent(body);
        expect(toConfigForm(content)).toEqual({ config });
        expect(listContentViolations({ series: content.series, asRatio: content.asRatio }, '')).toEqual([]);
        expect(normalizeContent(content)).toEqual(content);
      }),
      { numRuns: 500 },
    );
  });

  it('any series are kept: the config form is accepted and means the same', () => {
    fc.assert(
      fc.property(anySeriesTile, (body) => {
        const content = normalizeContent(body as ContentBody);
        const form = toConfigForm(content);
        expect(configSchema.Check(form.config), JSON.stringify(form.config)).toBe(true);
        expect(listContentViolations(form, '')).toEqual([]);
        const again = normalizeContent(form);
        expect(again.config).toEqual(form.series ? undefined : form.config);
        expect(isSameMeaning(again, content)).toBe(true);
        if (form.series) expect(again).toEqual(content);
      }),
      { numRuns: 500 },
    );
  });

  it('an unchanged form that is sent back changes nothing, even if the client drops the other one', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyConfig.map((config) => ({ config })),
          anySeriesTile,
        ),
        (body) => {
          const stored = normalizeContent(body as ContentBody);
          const { config: _, ...series } = stored;
          const { config } = toConfigForm(stored);
          for (const sent of [stored, series, { config }, toConfigForm(stored)])
            expect(keepOtherForm(sent, normalizeContent(sent), stored)).toEqual(stored);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a changed form replaces both', () => {
    const stored = normalizeContent({
      config: { displayType: 'line', sourceId: 'logs', select: [{ aggFn: 'count' }], lineInterpolation: 'step' },
    });
    const series = [{ type: 'time' as const, aggFn: 'count' as const, where: 'error' }];
    expect(keepOtherForm({ series }, normalizeContent({ series }), stored).config).toBeUndefined();
    const config = { displayType: 'line' as const, sourceId: 'logs', select: [{ aggFn: 'count' as const }] };
    expect(toConfigForm(keepOtherForm({ config }, normalizeContent({ config }), stored)).config).toEqual(config);
  });

  it('rejects series and a config that differ', () => {
    const config = { displayType: 'line' as const, sourceId: 'logs', select: [{ aggFn: 'count' as const }] };
    const series = [{ type: 'time' as const, aggFn: 'count' as const, where: 'error' }];
    expect(listContentViolations({ config, series }, 'tiles[0].')).toMatchObject([{ path: 'tiles[0].config' }]);
    expect(listContentViolations({ config, series: [{ type: 'time', aggFn: 'count' }] }, '')).toEqual([]);
  });
});

describe('conversion', () => {
  const number = { output: 'byte' };
  it.each([
    [
      {
        displayType: 'stacked_bar',
        sourceId: 's',
        select: [{ aggFn: 'sum', valueExpression: 'Duration', alias: 'D', where: 'a', whereLanguage: 'sql' }],
        groupBy: "ServiceName, LogAttributes['a,b']",
        numberFormat: number,
      },
      [
        {
          type: 'time',
          aggFn: 'sum',
          field: 'Duration',
          alias: 'D',
          where: 'a',
          whereLanguage: 'sql',
          sourceId: 's',
          groupBy: ['ServiceName', "LogAttributes['a,b']"],
          displayType: 'stacked_bar',
          numberFormat: number,
        },
      ],
    ],
    [
      {
        displayType: 'table',
        sourceId: 's',
        select: [{ aggFn: 'count', where: '', whereLanguage: 'lucene' }],
        groupBy: 'Body',
        orderBy: 'count() ASC',
      },
      [
        {
          type: 'table',
          aggFn: 'count',
          where: '',
          whereLanguage: 'lucene',
          sourceId: 's',
          groupBy: ['Body'],
          sortOrder: 'asc',
        },
      ],
    ],
    [
      {
        displayType: 'number',
        sourceId: 'm',
        select: [
          {
            aggFn: 'quantile',
            level: 0.9,
            metricName: 'x',
            metricType: 'histogram',
            where: '',
            whereLanguage: 'lucene',
          },
        ],
      },
      [
        {
          type: 'number',
          aggFn: 'quantile',
          level: 0.9,
          metricName: 'x',
          metricDataType: 'histogram',
          where: '',
          whereLanguage: 'lucene',
          sourceId: 'm',
          groupBy: [],
        },
      ],
    ],
    [
      {
        displayType: 'heatmap',
        sourceId: 't',
        select: [{ valueExpression: 'Duration' }],
        where: 'x',
        whereLanguage: 'lucene',
      },
      [{ type: 'heatmap', field: 'Duration', where: 'x', whereLanguage: 'lucene', sourceId: 't', groupBy: [] }],
    ],
    [
      { displayType: 'search', sourceId: 's', select: 'Body, toString(a, b)', where: '', whereLanguage: 'lucene' },
      [
        {
          type: 'search',
          fields: ['Body', 'toString(a, b)'],
          where: '',
          whereLanguage: 'lucene',
          sourceId: 's',
          groupBy: [],
        },
      ],
    ],
    [
      { displayType: 'markdown', markdown: '# x' },
      [{ type: 'markdown', content: '# x', where: '', whereLanguage: 'lucene', groupBy: [] }],
    ],
  ])('%j has the same meaning in both directions', (config, series) => {
    expect(toSeries(config as TileConfig)).toEqual({ asRatio: false, series });
    expect(toConfig({ asRatio: false, series: series as never })).toEqual(config);
    expect(normalizeContent({ config: config as TileConfig })).toEqual({ asRatio: false, series, config });
  });

  it('the where of the tile applies to every value', () => {
    const select = [{ aggFn: 'count' as const, where: 'b' }, { aggFn: 'count' as const }];
    const { series } = toSeries({ displayType: 'line', sourceId: 's', select, where: 'a OR c' });
    expect(series.map(({ where }) => where)).toEqual(['(a OR c) AND (b)', 'a OR c']);
  });

  it('expressions are split at commas outside of quotes and brackets', () => {
    expect(splitExpressions(`a , f(b, [c, d]), m['x,)'], "q,\\"," , , '`)).toEqual([
      'a',
      'f(b, [c, d])',
      "m['x,)']",
      `"q,\\","`,
      "'",
    ]);
    expect(splitExpressions(joinExpressions(['a', 'b(1, 2)']))).toEqual(['a', 'b(1, 2)']);
    expect(splitExpressions('')).toEqual([]);
  });
});
