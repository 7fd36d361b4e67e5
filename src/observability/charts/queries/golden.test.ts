import { describe, expect, it } from 'vitest';
import { findZone, type Zone } from '../../../kernel/time/zone.ts';
import type { Column } from '../../../platform/engine/engine.ts';
import { METRIC_DATA_TYPES, type MetricDataType } from '../../sources/source.ts';
import type { AggregationName } from '../aggregations.ts';
import { planContents } from '../column-contents.ts';
import { planSeries } from './plan.ts';
import { planSearch } from './search-rows.ts';
import type { SeriesQuery } from './series-query.ts';
import { singleBucket, splitRange } from './time-buckets.ts';
import { chooseBins, planBins, planValueRange } from './value-bins.ts';

const T0 = Date.parse('2026-03-01T10:00:00Z');
const range = { startMs: T0, endMs: T0 + 3_600_000 };
const minutes = splitRange(range, '1m', findZone('UTC') as Zone);
const MAP = 'Map(LowCardinality(String), String)';

const events: Column[] = [
  { name: 'Timestamp', type: 'DateTime64(9)' },
  { name: 'ServiceName', type: 'LowCardinality(String)' },
  { name: 'Body', type: 'String' },
  { name: 'Duration', type: 'UInt64' },
  { name: 'LogAttributes', type: MAP },
];
const metricColumns: Column[] = [
  { name: 'ResourceAttributes', type: MAP },
  { name: 'ServiceName', type: 'LowCardinality(String)' },
  { name: 'MetricName', type: 'String' },
  { name: 'Attributes', type: MAP },
  { name: 'StartTimeUnix', type: 'DateTime64(9)' },
  { name: 'TimeUnix', type: 'DateTime64(9)' },
  { name: 'AggregationTemporality', type: 'Int32' },
  { name: 'Min', type: 'Float64' },
];

const query = (given: Partial<SeriesQuery>): SeriesQuery => ({
  organizationId: 'acme',
  table: {
    database: 'pilothouse',
    name: 'otel_logs',
    columns: events,
    timeColumn: 'Timestamp',
    implicitColumn: 'Body',
    hasOrganization: true,
  },
  aggFn: 'count',
  where: '',
  whereLanguage: 'lucene',
  groupBy: [],
  buckets: minutes,
  top: { groups: 20, withOthers: false },
  nowMs: Number.POSITIVE_INFINITY,
  path: 'series[0]',
  ...given,
});

const metric = (
  metricDataType: MetricDataType,
  aggFn: AggregationName,
  given: Partial<SeriesQuery> = {},
): SeriesQuery =>
  query({
    table: {
      database: 'pilothouse',
      name: `otel_metrics_${metricDataType.replace(' ', '_')}`,
      columns: metricDataType === 'summary' ? metricColumns.slice(0, 6) : metricColumns,
      timeColumn: 'TimeUnix',
      hasOrganization: true,
    },
    metricDataType,
    metricName: 'm',
    aggFn,
    level: 0.95,
    ...given,
  });

const aggregations: AggregationName[] = [
  'avg',
  'sum',
  'min',
  'max',
  'quantile',
  'count_distinct',
  'last_value',
  'any',
  'none',
];

const shapes: [string, SeriesQuery][] = [
  ['logs, count', query({})],
  ...aggregations.map((aggFn): [string, SeriesQuery] => [
    `logs, ${aggFn}`,
    query({ aggFn, level: 0.95, field: 'Duration' }),
  ]),
  ['logs, a number in an attribute', query({ aggFn: 'avg', field: 'LogAttributes.ms' })],
  ['logs, Lucene where', query({ where: 'error ServiceName:"api" -LogAttributes.status:<500' })],
  ['logs, SQL where', query({ where: "ServiceName IN ('api', 'web') AND Duration > 5", whereLanguage: 'sql' })],
  ['logs, grouped', query({ groupBy: ['ServiceName', "LogAttributes['k8s.pod.name']"] })],
  ['logs, grouped, with others', query({ groupBy: ['ServiceName'], top: { groups: 5, withOthers: true } })],
  ['logs, one value', query({ buckets: singleBucket(range) })],
  ['logs, local days', query({ buckets: splitRange(range, '7d', findZone('Europe/Berlin') as Zone) })],
  ['a table shared by all organizations', query({ table: { ...query({}).table, hasOrganization: false } })],
  ...METRIC_DATA_TYPES.flatMap((type): [string, SeriesQuery][] => {
    const known: AggregationName[] =
      type === 'gauge' ? ['avg', 'count', 'last_value'] : ['avg', 'count', 'increase', 'rate', 'sum'];
    return known.map((aggFn) => [`${type}, ${aggFn}`, metric(type, aggFn)]);
  }),
  ...METRIC_DATA_TYPES.map((type): [string, SeriesQuery] => [
    `${type}, quantile, grouped`,
    metric(type, 'quantile', { groupBy: ['Attributes.host'], where: 'ServiceName:api*' }),
  ]),
];

/** Review golden.sql after an intended change: `npx vitest run src/observability/charts/queries/golden.test.ts --update`. */
describe('the SQL of each kind of series', () => {
  it('matches the golden file', async () => {
    const plans = shapes.map(([name, given]) => ({ name, ...planSeries(given).statement }));
    const source = {
      id: 'logs',
      name: 'Logs',
      kind: 'log' as const,
      from: { databaseName: '', tableName: '' },
      connection: 'engine',
      timestampValueExpression: 'Timestamp',
    };
    const search = planSearch(
      query({ where: 'timeout' }),
      ['ServiceName', 'LogAttributes.status', 'Body'],
      source,
      100,
    );
    const distribution = query({ field: 'LogAttributes.ms', where: 'timeout' });
    const values = { count: 9, low: 0, high: 100, median: 40, isInteger: false };
    const contents = (given: SeriesQuery) => ({ sql: '', parameters: {}, ...planContents(given)?.statement });
    const text = [
      ...plans,
      { name: 'search', ...search.statement },
      { name: 'range of values', ...planValueRange(distribution).statement },
      { name: 'heatmap, linear', ...planBins(distribution, chooseBins(values, 20)).statement },
      { name: 'heatmap, logarithmic', ...planBins(distribution, chooseBins(values, 20, 'log')).statement },
      { name: 'map keys', ...contents(query({ buckets: singleBucket(range) })) },
      { name: 'metric names', ...contents(metric('gauge', 'avg', { buckets: singleBucket(range) })) },
    ]
      .map(({ name, sql, parameters }) => `-- ${name}\n-- ${JSON.stringify(parameters)}\n${sql};\n`)
      .join('\n');
    await expect(text).toMatchFileSnapshot('./golden.sql');
  });

  it('contains no user input', () => {
    const text = 'needle-in-the-where';
    for (const whereLanguage of ['lucene', 'sql'] as const) {
      const where = whereLanguage === 'sql' ? `Body = '${text}'` : `Body:"${text}"`;
      const { sql, parameters } = planSeries(
        query({ where, whereLanguage, groupBy: [`LogAttributes['${text}']`] }),
      ).statement;
      expect(sql).not.toContain(text);
      expect(Object.values(parameters)).toContain(text);
    }
  });
});
