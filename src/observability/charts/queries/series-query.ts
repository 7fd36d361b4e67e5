import type { Column, Statement } from '../../../platform/engine/engine.ts';
import type { Expression } from '../../expressions/expression.ts';
import type { MetricDataType } from '../../sources/source.ts';
import type { AggregationName } from '../aggregations.ts';
import type { TimeBuckets } from './time-buckets.ts';

/** A table of the engine with the columns that its source designates. */
export interface Table {
  database: string;
  name: string;
  columns: readonly Column[];
  timeColumn: string;
  /** The column that bare words of a Lucene `where` search. */
  implicitColumn?: string | undefined;
  /** The table has an organization column. Otherwise every organization may read all of it (`--open-tables`). */
  hasOrganization: boolean;
}

/** One series with its resolved table and all defaults applied. */
export interface SeriesQuery {
  organizationId: string;
  table: Table;
  /** Undefined for logs and traces. */
  metricDataType?: MetricDataType | undefined;
  metricName?: string | undefined;
  aggFn: AggregationName;
  level?: number | undefined;
  field?: string | undefined;
  where: string;
  whereLanguage: 'lucene' | 'sql';
  /** SQL conditions in addition to `where`. */
  filters?: readonly string[] | undefined;
  /** Conditions of the viewer in addition to `where`, already parsed. */
  conditions?: readonly Expression[] | undefined;
  groupBy: readonly string[];
  buckets: TimeBuckets;
  top: TopGroups;
  /** Epoch milliseconds. A rate is computed over the time that has passed. Not part of the statement, so results can be cached. */
  nowMs: number;
  /** The path of the series in the request, for errors. Empty for the request itself. */
  path: string;
}

/** The groups with the highest bucket are returned separately. */
export interface TopGroups {
  groups: number;
  /** Add one group for all others. */
  withOthers: boolean;
}

export type Value = number | string | null;

export interface Group {
  labels: string[];
  /** Aggregates all groups that are not among the top groups. */
  isOthers: boolean;
  /** One per bucket; null if there is none. */
  values: Value[];
  /** For rates: the milliseconds that the increase of a bucket took, by bucket. */
  spans?: Map<number, number>;
}

export interface Points {
  groups: Group[];
  /** Including those that are not returned. */
  totalGroups: number;
}

/** The statement, and the conversion of its rows to points. */
export interface Plan {
  statement: Statement;
  /** The number of groups that `collect` returns. Each has a value for every bucket. */
  countGroups(rows: unknown[][]): number;
  collect(rows: unknown[][]): Points;
}
