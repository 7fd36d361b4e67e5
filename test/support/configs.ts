import fc from 'fast-check';
import { anyNumberFormat, shortText } from './dashboards.ts';

const optional = { requiredKeys: [] as [] };
const expression = fc.oneof(
  fc.constantFrom('ServiceName', "LogAttributes['a,b']", 'ServiceName, Body', 'lower(Body)', ''),
  shortText(60),
);
const numberFormat = anyNumberFormat(1);
const language = fc.constantFrom('lucene', 'sql');

const item = fc
  .tuple(
    fc.constantFrom('avg', 'count', 'count_distinct', 'quantile', 'sum', 'none', 'increase'),
    fc.record(
      {
        valueExpression: expression,
        alias: shortText(30),
        where: shortText(60),
        whereLanguage: language,
        metricName: shortText(30),
        metricType: fc.constantFrom('gauge', 'sum', 'histogram', 'summary', 'exponential histogram'),
        periodAggFn: fc.constant('delta'),
        numberFormat,
      },
      optional,
    ),
  )
  .map(([aggFn, more]) => ({ aggFn, ...(aggFn === 'quantile' ? { level: 0.95 } : {}), ...more }));

const items = fc.array(item, { minLength: 1, maxLength: 4 });
const sourceId = fc.constantFrom('logs', 'traces', 'metrics');

const chart = fc
  .tuple(
    fc.record({
      displayType: fc.constantFrom('line', 'stacked_bar', 'stacked_line', 'table', 'number', 'pie', 'bar'),
      sourceId,
      select: items,
    }),
    fc.record(
      {
        configType: fc.constant('builder'),
        groupBy: expression,
        having: expression,
        orderBy: fc.oneof(fc.constantFrom('count() DESC', 'count() asc'), expression),
        asRatio: fc.boolean(),
        numberFormat,
        seriesLimit: fc.integer({ min: 1, max: 100 }),
        limit: fc.integer({ min: 1, max: 100 }),
        formulas: fc.array(fc.record({ expression: fc.constant('A / B') }), { maxLength: 2 }),
        showOperandSeries: fc.boolean(),
        fillNulls: fc.boolean(),
        lineInterpolation: fc.constantFrom('smooth', 'linear', 'step'),
        compareToPreviousPeriod: fc.boolean(),
        onClick: fc.constant({ type: 'external', urlTemplate: 'https://example.com' }),
        color: fc.constant('chart-blue'),
        colorRules: fc.constant([{ operator: 'gt', value: 1, color: 'chart-red' }]),
      },
      optional,
    ),
  )
  .map(([required, more]) => ({ ...required, ...more }));

const distribution = fc
  .tuple(
    fc.record({
      displayType: fc.constantFrom('heatmap', 'histogram'),
      sourceId,
      select: fc.array(
        fc
          .tuple(
            shortText(40, 1),
            fc.record({ heatmapScaleType: fc.constantFrom('log', 'linear'), alias: shortText(20) }, optional),
          )
          .map(([value, more]) => ({ valueExpression: `x${value}`, ...more })),
        { minLength: 1, maxLength: 1 },
      ),
    }),
    fc.record({ where: shortText(60), whereLanguage: language, numberFormat }, optional),
  )
  .map(([required, more]) => ({ ...required, ...more }));

const heatmapOfGroups = fc
  .tuple(items, expression)
  .map(([select, groupBy]) => ({ displayType: 'heatmap', heatmapMode: 'series', sourceId: 'logs', select, groupBy }));

const search = fc
  .tuple(
    fc.record({ select: expression, sourceId }),
    fc.record({ where: shortText(60), whereLanguage: language }, optional),
  )
  .map(([required, more]) => ({ displayType: 'search', ...required, ...more }));

const markdown = fc
  .record({ markdown: shortText(100) }, optional)
  .map((more) => ({ displayType: 'markdown', ...more }));

/** Valid configs of every display type. */
export const anyConfig = fc.oneof(chart, distribution, heatmapOfGroups, search, markdown);
