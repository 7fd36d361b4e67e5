import { LRUCache } from 'lru-cache';
import type { Limits, Statement } from '../../platform/engine/engine.ts';
import { getAggregation } from './aggregations.ts';
import { createDraft } from './queries/draft.ts';
import { metricRows } from './queries/metric-rows.ts';
import type { SeriesQuery } from './queries/series-query.ts';
import type { QueryClient } from './shared-queries.ts';
import { findUnit, type Unit } from './units.ts';

const CACHED_METRICS = 2000;
const CACHED_MS = 10 * 60_000;
const LIMITS: Limits = { maxSeconds: 5, maxResultRows: 1, maxMemoryBytes: 100_000_000 };

interface Options {
  query(statement: Statement, client: QueryClient, limits: Limits): Promise<unknown[][]>;
}

/** Reads the units of metrics. A metric rarely changes its unit, so units are cached for ten minutes. */
export function createMetricUnits({ query }: Options) {
  const units = new LRUCache<string, { code: string }>({ max: CACHED_METRICS, ttl: CACHED_MS });

  /** Undefined if the unit is unknown, is not one that is displayed, or cannot be read: values are useful without it. */
  return async (series: SeriesQuery, client: QueryClient): Promise<Unit | undefined> => {
    const { aggFn, table, organizationId, metricName, field } = series;
    const hasUnit = table.columns.some(({ name }) => name === 'MetricUnit');
    if (!hasUnit || !getAggregation(aggFn).keepsUnit) return undefined;
    const id = JSON.stringify([organizationId, table.database, table.name, metricName ?? field]);
    const known = units.get(id);
    if (known) return findUnit(known.code);
    const draft = createDraft({ ...series, where: '', groupBy: [] });
    const sql = `SELECT MetricUnit FROM ${metricRows(draft, series)} LIMIT 1`;
    const [row] = await query({ sql, parameters: draft.writer.parameters }, client, LIMITS).catch(() => []);
    if (!row) return undefined;
    units.set(id, { code: String(row[0]) });
    return findUnit(String(row[0]));
  };
}
