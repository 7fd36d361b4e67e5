import { AppError } from '../../kernel/errors.ts';
import { type Engine, ORGANIZATION_COLUMN } from '../../platform/engine/engine.ts';
import { METRIC_DATA_TYPES, type MetricDataType, type Source } from '../sources/source.ts';
import { getAggregation } from './aggregations.ts';
import type { Table } from './queries/series-query.ts';
import type { Series } from './series-schema.ts';

/** The members of a series that select its table. */
type SourceReference = Pick<Series, 'sourceId' | 'dataSource' | 'metricName' | 'metricDataType' | 'aggFn'>;

interface Options {
  engine: Engine;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  /** Tables (`database.table`) without an organization column that every organization may read. */
  openTables: readonly string[];
}

export interface ResolvedSource {
  table: Table;
  source: Source;
  metricDataType: MetricDataType | undefined;
}

/** Finds the tables of a source. `notFound` creates the error for an unknown source. */
export function createSourceResolver({ engine, findSource, openTables }: Options) {
  async function readTable(source: Source, name: string): Promise<Table> {
    const { databaseName: database } = source.from;
    const columns = await engine.columns(database, name);
    if (columns.length === 0)
      throw new AppError('bad_request', `The table ${database}.${name} of the source ${source.id} does not exist`);
    const hasOrganization = columns.some((column) => column.name === ORGANIZATION_COLUMN);
    if (!hasOrganization && !openTables.includes(`${database}.${name}`))
      throw new AppError(
        'bad_request',
        `The table ${database}.${name} has no column ${ORGANIZATION_COLUMN} to separate organizations; --open-tables can open it to all of them`,
      );
    const timeColumn = source.timestampValueExpression;
    if (!columns.some((column) => column.name === timeColumn))
      throw new AppError('bad_request', `The table ${database}.${name} has no column ${timeColumn}`);
    return {
      database,
      name,
      columns: columns.filter((column) => column.name !== ORGANIZATION_COLUMN),
      timeColumn,
      implicitColumn: source.implicitColumnExpression,
      hasOrganization,
    };
  }

  async function resolve(source: Source, metricDataType: MetricDataType | undefined): Promise<ResolvedSource> {
    const name = metricDataType === undefined ? source.from.tableName : source.metricTables?.[metricDataType];
    if (name === undefined || name === '')
      throw new AppError('bad_request', `The source ${source.id} has no table for metrics of type ${metricDataType}`);
    return { table: await readTable(source, name), source, metricDataType };
  }

  async function getSource(organizationId: string, id: string, notFound: (id: string) => AppError): Promise<Source> {
    const source = await findSource(organizationId, id);
    if (!source) throw notFound(id);
    return source;
  }

  return {
    /** The table that a series reads. */
    async resolveSource(
      organizationId: string,
      series: SourceReference,
      notFound: (id: string) => AppError,
    ): Promise<ResolvedSource> {
      const isMetric = series.dataSource === 'metrics' || series.metricName !== undefined;
      const id = series.sourceId ?? (isMetric ? 'metrics' : 'logs');
      const source = await getSource(organizationId, id, notFound);
      const { defaultMetricDataType } = getAggregation(series.aggFn ?? 'count');
      return resolve(source, source.kind === 'metric' ? (series.metricDataType ?? defaultMetricDataType) : undefined);
    },

    /** Every table of a source: a metric source has one per type of metric, unless `metricDataType` selects one. */
    async resolveTables(
      organizationId: string,
      { sourceId, metricDataType }: { sourceId: string; metricDataType?: MetricDataType | undefined },
      notFound: (id: string) => AppError,
    ): Promise<ResolvedSource[]> {
      const source = await getSource(organizationId, sourceId, notFound);
      if (source.kind !== 'metric') return [await resolve(source, undefined)];
      const types = metricDataType ? [metricDataType] : METRIC_DATA_TYPES.filter((type) => source.metricTables?.[type]);
      return Promise.all(types.map((type) => resolve(source, type)));
    },
  };
}
