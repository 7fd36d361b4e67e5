import { join } from 'node:path';
import type { Upstream } from '../../../management/services/driver.ts';
import type { Elements } from '../../../platform/listener/configuration.ts';
import { query, queryRows } from '../../../platform/listener/query.ts';

const MEBIBYTE = 2 ** 20;

/** Parts of the log are dropped when it has become larger. */
const QUERY_LOG_BYTES = 64 * MEBIBYTE;
/** Small enough that dropping the oldest part keeps most of the log. */
const QUERY_LOG_PART_BYTES = 8 * MEBIBYTE;
const QUERY_LOG_DAYS = 7;
/** Rows in memory; more are flushed at once. */
const QUERY_LOG_ROWS = 10_000;

/** ClickHouse's own limits are those of a large machine. */
export const listServerSettings = (data: string, memoryBytes: number): Elements => ({
  mark_cache_size: Math.floor(memoryBytes / 16),
  primary_index_cache_size: Math.floor(memoryBytes / 16),
  index_mark_cache_size: Math.floor(memoryBytes / 64),
  query_condition_cache_size: Math.floor(memoryBytes / 64),
  vector_similarity_index_cache_size: Math.floor(memoryBytes / 16),
  text_index_tokens_cache_size: Math.floor(memoryBytes / 64),
  text_index_header_cache_size: Math.floor(memoryBytes / 64),
  text_index_postings_cache_size: Math.floor(memoryBytes / 64),
  parquet_metadata_cache_size: Math.floor(memoryBytes / 64),
  compiled_expression_cache_size: Math.floor(memoryBytes / 64),
  // By default 128 threads remove old parts, and 1,000 threads without work are kept.
  max_parts_cleaning_thread_pool_size: 2,
  max_thread_pool_free_size: 16,
  // A reader may change the settings that its constraints name, and no others.
  access_control_improvements: { settings_constraints_replace_previous: 'true' },
  backups: { allowed_path: join(data, 'backups/') },
  query_log: {
    database: 'system',
    table: 'query_log',
    partition_by: 'event_date',
    ttl: `event_date + INTERVAL ${QUERY_LOG_DAYS} DAY DELETE`,
    settings: `max_bytes_to_merge_at_max_space_in_pool = ${QUERY_LOG_PART_BYTES}`,
    flush_interval_milliseconds: 7500,
    max_size_rows: QUERY_LOG_ROWS,
    reserved_size_rows: QUERY_LOG_ROWS / 10,
    buffer_size_rows_flush_threshold: QUERY_LOG_ROWS / 2,
  },
});

/** The oldest parts of the log that exceed its size, without the newest one. */
const OLD_PARTS = `
SELECT name FROM (
  SELECT name, sum(bytes_on_disk) OVER (ORDER BY max_block_number DESC) AS bytes, row_number() OVER (ORDER BY max_block_number DESC) AS number
  FROM system.parts WHERE database = 'system' AND table = 'query_log' AND active
) WHERE bytes > ${QUERY_LOG_BYTES} AND number > 1 LIMIT 100`;

/** Keeps the query log within its size. Users may truncate it; they cannot change how it is stored. */
export async function trimQueryLog(upstream: Upstream, signal: AbortSignal): Promise<void> {
  for (const [name] of await queryRows<[string]>(upstream, OLD_PARTS, signal))
    await query(upstream, `ALTER TABLE system.query_log DROP PART '${name}'`, signal);
}
