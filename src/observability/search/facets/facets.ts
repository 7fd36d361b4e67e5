import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { Charts } from '../../charts/charts.ts';
import type { Table } from '../../charts/queries/series-query.ts';
import type { Range } from '../../charts/queries/time-buckets.ts';
import type { QueryClient } from '../../charts/shared-queries.ts';
import type { ResolvedSource } from '../../charts/source-resolver.ts';
import { STATEMENT_LIMITS, type TelemetryQueries } from '../../charts/telemetry-queries.ts';
import { parseRange, toQuery } from '../search-query.ts';
import {
  type FacetValues,
  findCounted,
  findWholeHours,
  MAX_KEYS,
  planFirstHour,
  planKeys,
  planValues,
} from './facet-queries.ts';
import type { FacetsBody, FacetValuesBody } from './facet-schema.ts';

/** A facet is a hint: it may not take as much as a search. */
const FACET_LIMITS = { ...STATEMENT_LIMITS, maxSeconds: 10, maxMemoryBytes: 200_000_000 };
const DEFAULT_VALUES = 20;

interface FacetKey {
  field: string;
  column: string;
  /** Empty for columns that are not maps. */
  key: string;
  kind: 'column' | 'attribute';
  /** Undefined if the rows were not counted. */
  rows?: number;
}

interface Options {
  clock: Clock;
  queries: TelemetryQueries;
  charts: Pick<Charts, 'listColumns'>;
}

/** The fields of a source by which rows can be filtered, and the values of a field. */
export function createFacets({ clock, queries, charts }: Options) {
  async function resolve({ organizationId }: QueryClient, body: FacetsBody) {
    const notFound = () => new AppError('not_found', 'Source not found');
    const resolved = await queries.resolveTables(organizationId, body, notFound);
    const [first, ...others] = resolved.map(({ table }) => table);
    if (!first) throw new AppError('bad_request', `The source ${body.sourceId} has no tables`);
    return { resolved, tables: [first, ...others], table: keepCommonColumns(first, others) };
  }

  /** For sources whose values are not counted. */
  async function listFromColumns(
    client: QueryClient,
    resolved: readonly ResolvedSource[],
    { columns }: Table,
    range: Range,
  ): Promise<FacetKey[]> {
    const lists = await Promise.all(
      resolved.map(({ source, metricDataType }) => charts.listColumns(client, source.id, { ...range, metricDataType })),
    );
    const names = new Set(columns.map(({ name }) => name));
    const keys = lists.flat().flatMap(({ name, type, keys: found }) => {
      if (!names.has(name)) return [];
      if (found) return found.map((key) => toKey(name, key));
      return /^(LowCardinality\(String\)|String|Enum)/.test(type) ? [toKey(name, '')] : [];
    });
    return [...new Map(keys.map((one) => [one.field, one])).values()].slice(0, MAX_KEYS);
  }

  async function findCountedHours(client: QueryClient, table: Table, range: Range) {
    const values = findCounted(table);
    if (!values) return undefined;
    const { statement, collect } = planFirstHour(client.organizationId, values);
    const firstHourMs = collect(await queries.query(statement, client));
    const hours = firstHourMs === undefined ? undefined : findWholeHours(range, firstHourMs);
    return hours && { hours, values };
  }

  return {
    async listKeys(client: QueryClient, body: FacetsBody): Promise<FacetKey[]> {
      const { resolved, table } = await resolve(client, body);
      const range = parseRange(clock.now(), body);
      const counted = findCounted(table);
      if (!counted) return listFromColumns(client, resolved, table, range);
      const { statement, collect } = planKeys(client.organizationId, counted, range);
      const keys = collect(await queries.query(statement, client, FACET_LIMITS));
      return keys.length > 0
        ? keys.map(({ column, key, rows }) => ({ ...toKey(column, key), rows }))
        : listFromColumns(client, resolved, table, range);
    },

    /** A field whose values take too long to count has an error; the others are returned. */
    async listValues(client: QueryClient, body: FacetValuesBody) {
      const { table, tables } = await resolve(client, body);
      const range = parseRange(clock.now(), body);
      const query = toQuery(client.organizationId, { table }, body, range);
      const isFiltered = query.where.trim() !== '' || (query.filters ?? []).length > 0;
      const counted = isFiltered ? undefined : await findCountedHours(client, table, range);
      const plans = body.fields.map((text, index) => ({
        field: text,
        plan: planValues(query, { text, path: `fields[${index}]` }, body.limit ?? DEFAULT_VALUES, { tables, counted }),
      }));
      return Promise.all(
        plans.map(async ({ field, plan }): Promise<FacetValues & { field: string; error?: string }> => {
          try {
            return { field, ...plan.collect(await queries.query(plan.statement, client, FACET_LIMITS)) };
          } catch (error) {
            if (!(error instanceof AppError && error.code === 'bad_request')) throw error;
            return { field, values: [], isExact: false, others: 0, error: error.message };
          }
        }),
      );
    },
  };
}

export type Facets = ReturnType<typeof createFacets>;

/** A condition or field is parsed once for all tables, so it may only use columns that they share. */
const keepCommonColumns = (table: Table, others: readonly Table[]): Table => ({
  ...table,
  columns: table.columns.filter(({ name, type }) =>
    others.every(({ columns }) => columns.some((one) => one.name === name && one.type === type)),
  ),
});

const toKey = (column: string, key: string): FacetKey =>
  key === ''
    ? { field: column, column, key, kind: 'column' }
    : { field: `${column}['${key.replace(/[\\']/g, '\\$&')}']`, column, key, kind: 'attribute' };
