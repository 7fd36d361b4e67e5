import type { Elements } from '../../listener/configuration.ts';

export const READER_GRANTS = [
  'GRANT SELECT ON pilothouse.*',
  'GRANT SELECT ON system.columns',
  'GRANT SELECT ON system.one',
  'GRANT SELECT ON system.numbers',
  'GRANT SELECT ON system.parts',
];

export const WRITER_GRANTS = [
  'GRANT ALL ON pilothouse.*',
  'GRANT TABLE ENGINE ON MergeTree, TABLE ENGINE ON ReplacingMergeTree, TABLE ENGINE ON SummingMergeTree',
  'GRANT SELECT ON system.columns',
  'GRANT SELECT ON system.parts',
];

const MEBIBYTE = 2 ** 20;

/** How many parts of a table are merged at a time (default 5). Rows are rewritten half as often, and rewriting is most of the cost of an insert. */
const MERGE_SELECTOR_BASE = 12;

export const ENGINE_SETTINGS: Elements = {
  mark_cache_size: 64 * MEBIBYTE,
  primary_index_cache_size: 64 * MEBIBYTE,
  index_mark_cache_size: 16 * MEBIBYTE,
  query_condition_cache_size: 16 * MEBIBYTE,
  merge_tree: { merge_selector_base: MERGE_SELECTOR_BASE },
};
