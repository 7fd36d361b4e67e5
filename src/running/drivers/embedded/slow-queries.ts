import type { SlowQuery, Upstream } from '../../../management/services/driver.ts';
import { queryRows } from '../../../platform/listener/query.ts';

const MAX_QUERIES = 50;
const MAX_TEXT_CHARACTERS = 2000;

const STATEMENT = `
SELECT
  toUnixTimestamp64Milli(query_start_time_microseconds::DateTime64(3)), toFloat64(query_duration_ms),
  toFloat64(read_rows), toFloat64(read_bytes), toFloat64(memory_usage),
  substringUTF8(query, 1, ${MAX_TEXT_CHARACTERS}), substringUTF8(exception, 1, ${MAX_TEXT_CHARACTERS})
FROM system.query_log
WHERE type != 'QueryStart' AND is_initial_query AND event_date >= yesterday() AND event_time >= now() - INTERVAL 1 DAY
ORDER BY query_duration_ms DESC, event_time DESC LIMIT ${MAX_QUERIES}
SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, max_execution_time = 5`;

type Row = [string | number, number, number, number, number, string, string];

/** The queries of the last 24 hours that took longest, from the query log of the service. */
export async function listSlowQueries(upstream: Upstream, signal: AbortSignal): Promise<SlowQuery[]> {
  const rows = await queryRows<Row>(upstream, STATEMENT, signal).catch((error: Error) => {
    // ClickHouse creates the table with the first entries.
    if (error.message.includes('UNKNOWN_TABLE')) return [];
    throw error;
  });
  return rows.map(([startedAt, durationMs, readRows, readBytes, memoryBytes, query, error]) => ({
    startedAt: Number(startedAt),
    durationMs,
    readRows,
    readBytes,
    memoryBytes,
    query,
    ...(error !== '' && { error }),
  }));
}
