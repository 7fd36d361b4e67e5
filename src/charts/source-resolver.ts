import { type Engine, ORGANIZATION_COLUMN } from '../engine/engine.ts';
import { AppError } from '../kernel/errors.ts';
import type { MetricDataType, Source } from '../sources/source.ts';
import { getAggregation } from './aggregations.ts';
import type { Table } from './series-query.ts';
import type { Series } from './series-schema.ts';

/** What a series says about where its data lies. */
export type SourceReference = Pick<Series, 'sourceId' | 'dataSource' | 'metricName' | 'metricDataType' | 'aggFn'>;

interface Options {
  engine: Engine;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  /** `database.table` of tables without an organization column that every organization may read. */
  openTables: readonly string[];
}

export interface ResolvedSource {
  table: Table;
  source: Source;
  metricDataType: MetricDataType | undefined;
}

export type Resolve = ReturnType<typeof createSourceResolver>;

/** A series → the table it reads. `missing` says how a source that is not there is reported. */
export function createSourceResolver({ engine, findSource, openTables }: Options) {
  return async (
    organizationId: string,
    series: SourceReference,
    missing: (id: string) => AppError,
  ): Promise<ResolvedSource> => {
    const isMetric = series.dataSource === 'metrics' || series.metricName !== undefined;
    const id = series.sourceId ?? (isMetric ? 'metrics' : 'logs');
    const source = await findSource(organizationId, id);
    if (!source) throw missing(id);
    const metricDataType =
      source.kind === 'metric'
        ? (series.metricDataType ?? getAggregation(series.aggFn ?? 'count').defaultMetricDataType)
        : undefined;
    const { databaseName: database } = source.from;
    const name = metricDataType === undefined ? source.from.tableName : source.metricTables?.[metricDataType];
    if (name === undefined || name === '')
      throw new AppError('bad_request', `The source ${id} has no table for metrics of type ${metricDataType}`);
    const columns = await engine.columns(database, name);
    if (columns.length === 0)
      throw new AppError('bad_request', `The table ${database}.${name} of the source ${id} is not in the engine`);
    const hasOrganization = columns.some((column) => column.name === ORGANIZATION_COLUMN);
    if (!hasOrganization && !openTables.includes(`${database}.${name}`))
      throw new AppError(
        'bad_request',
        `The table ${database}.${name} has no column ${ORGANIZATION_COLUMN}, so its rows cannot be told apart by organization; --open-tables can open it to all of them`,
      );
    const table: Table = {
      database,
      name,
      columns: columns.filter((column) => column.name !== ORGANIZATION_COLUMN),
      timeColumn: source.timestampValueExpression,
      implicitColumn: source.implicitColumnExpression,
      hasOrganization,
    };
    if (!columns.some((column) => column.name === table.timeColumn))
      throw new AppError('bad_request', `The table ${database}.${name} has no column ${table.timeColumn}`);
    return { table, source, metricDataType };
  };
}
