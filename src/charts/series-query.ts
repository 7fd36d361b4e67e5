import type { Column, Statement } from '../engine/engine.ts';
import type { MetricDataType } from '../sources/source.ts';
import type { AggregationName } from './aggregations.ts';
import type { TimeBuckets } from './time-buckets.ts';

/** A table of the engine, as a source describes it and as the engine knows it. */
export interface Table {
  database: string;
  name: string;
  columns: readonly Column[];
  timeColumn: string;
  /** What bare words are looked up in. */
  implicitColumn?: string | undefined;
  /** Its rows say whose they are; without that, every organization may read all of it. */
  hasOrganization: boolean;
}

/** One series, with everything decided that a request may leave open. */
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
  groupBy: readonly string[];
  buckets: TimeBuckets;
  top: TopGroups;
  /** Where the series stands in the request, for whoever reads the error. */
  path: string;
}

/** How many groups are told apart; the largest by their highest bucket. */
export interface TopGroups {
  groups: number;
  /** The rest as one more group. */
  withOthers: boolean;
}

export type Value = number | string | null;

export interface Group {
  labels: string[];
  /** Everything that is not among the top groups, together. */
  isOthers: boolean;
  /** One for each bucket; null where there is nothing. */
  values: Value[];
}

export interface Points {
  groups: Group[];
  /** How many there are, those that are not shown included. */
  totalGroups: number;
}

/** What to ask the engine, and how its rows become points. */
export interface Plan {
  statement: Statement;
  collect(rows: unknown[][]): Points;
}
