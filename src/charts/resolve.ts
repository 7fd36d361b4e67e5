import { type Engine, ORGANIZATION_COLUMN } from '../engine/engine.ts';
import { AppError } from '../kernel/errors.ts';
import type { MetricDataType, Source } from '../sources/source.ts';
import { getAggregation } from './aggregations.ts';
import type { Table } from './reading.ts';
import type { Series } from './series-schema.ts';

/** What a series says about where its data lies. */
type Origin = Pick<Series, 'sourceId' | 'dataSource' | 'metricName' | 'metricDataType' | 'aggFn'>;

interface Options {
  engine: Engine;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  /** `database.table` of tables without an organization column that every organization may read. */
  openTables: readonly string[];
}

export interface Resolved {
  table: Table;
  source: Source;
  metricDataType: MetricDataType | undefined;
}

/** A series → the table it reads. `missing` says how a source that is not there is reported. */
export function createResolve({ engine, findSource, openTables }: Options) {
  return async (organizationId: string, series: Origin, missing: (id: string) => AppError): Promise<Resolved> => {
    const isMetric = series.dataSource === 'metrics' || series.metricName !== undefined;
    const id = series.sourceId ?? (isMetric ? 'metrics' : 'logs');
    const source = await findSource(organizationId, id);
    if (!source) throw missing(id);
    const metricDataType =
      source.kind === 'metric'
        ? (series.metricDataType ?? getAggregation(series.aggFn ?? 'count').defaultMetricDataType)
        : undefined;
    const { databaseName: database } = source.from;
    const name = getTableName(id, source, metricDataType);
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

function getTableName(id: string, { from, metricTables }: Source, metricDataType?: MetricDataType): string {
  const name = metricDataType === undefined ? from.tableName : metricTables?.[metricDataType];
  if (name) return name;
  throw new AppError('bad_request', `The source ${id} has no table for metrics of type ${metricDataType}`);
}
