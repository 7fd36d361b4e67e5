const split = (names: string): readonly string[] => names.trim().split(/\s+/);

/**
 * The tables of `system` that a reader may read: those about the service's own databases and about ClickHouse. None has the
 * text of queries, users or secrets. ClickHouse lets every user read all columns of `tables` and `databases`, also those with
 * paths, whatever is granted.
 */
export const READABLE_TABLES = split(`
  aggregate_function_combinators build_options codecs collations columns completions data_skipping_index_types
  data_skipping_indices data_type_families database_engines databases documentation formats functions keywords
  merge_tree_settings numbers numbers_mt one projections settings table_engines table_functions tables time_zones
  tokenizers zeros zeros_mt
`);

/** The columns of further tables: all but those with paths of files. */
export const READABLE_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  merges: split(`
    bytes_read_uncompressed bytes_written_uncompressed columns_written current_projection
    current_projection_parts_merging current_projection_parts_remaining current_projection_progress database
    elapsed is_mutation memory_usage merge_algorithm merge_type num_parts partition partition_id progress
    projections_completed projections_remaining result_part_name rows_read rows_written source_part_names table
    thread_id total_size_bytes_compressed total_size_bytes_uncompressed total_size_marks
  `),
  parts: split(`
    active bytes bytes_on_disk creation_csn creation_tid data_compressed_bytes data_uncompressed_bytes
    data_version database default_compression_codec delete_ttl_info_max delete_ttl_info_min disk_name engine files
    group_by_ttl_info.expression group_by_ttl_info.max group_by_ttl_info.min has_lightweight_delete
    hash_of_all_files hash_of_uncompressed_files index_granularity_bytes_in_memory
    index_granularity_bytes_in_memory_allocated is_frozen last_removal_attempt_time level marks marks_bytes
    marks_size max_block_number max_date max_time min_block_number min_date min_time modification_time
    move_ttl_info.expression move_ttl_info.max move_ttl_info.min name part_name part_type partition partition_id
    primary_key_bytes_in_memory primary_key_bytes_in_memory_allocated primary_key_size projections
    recompression_ttl_info.expression recompression_ttl_info.max recompression_ttl_info.min refcount removal_csn
    removal_state removal_tid removal_tid_lock remove_time rows rows_where_ttl_info.expression
    rows_where_ttl_info.max rows_where_ttl_info.min secondary_indices_compressed_bytes
    secondary_indices_marks_bytes secondary_indices_uncompressed_bytes table uncompressed_hash_of_compressed_files
    uuid visible
  `),
  parts_columns: split(`
    active bytes bytes_on_disk column column_bytes_on_disk column_data_compressed_bytes
    column_data_uncompressed_bytes column_marks_bytes column_modification_time column_position column_ttl_max
    column_ttl_min data_compressed_bytes data_uncompressed_bytes data_version database default_expression
    default_kind disk_name engine estimates.cardinality estimates.max estimates.min estimates.null_count filenames
    level marks marks_bytes marks_size max_block_number max_date max_time min_block_number min_date min_time
    modification_time name part_name part_type partition partition_id primary_key_bytes_in_memory
    primary_key_bytes_in_memory_allocated refcount remove_time rows serialization_kind statistics
    subcolumns.bytes_on_disk subcolumns.data_compressed_bytes subcolumns.data_uncompressed_bytes
    subcolumns.marks_bytes subcolumns.names subcolumns.serializations subcolumns.types substreams table type uuid
  `),
  projection_parts: split(`
    active bytes bytes_on_disk data_compressed_bytes data_uncompressed_bytes data_version database
    default_compression_codec delete_ttl_info_max delete_ttl_info_min disk_name engine exception_code
    group_by_ttl_info.expression group_by_ttl_info.max group_by_ttl_info.min hash_of_all_files
    hash_of_uncompressed_files is_broken is_frozen level marks marks_bytes marks_size max_block_number max_date
    max_time min_block_number min_date min_time modification_time move_ttl_info.expression move_ttl_info.max
    move_ttl_info.min name parent_bytes_on_disk parent_data_compressed_bytes parent_data_uncompressed_bytes
    parent_marks parent_marks_bytes parent_name parent_part_type parent_rows parent_uuid part_name part_type
    partition partition_id primary_key_bytes_in_memory primary_key_bytes_in_memory_allocated
    recompression_ttl_info.expression recompression_ttl_info.max recompression_ttl_info.min refcount remove_time
    rows rows_where_ttl_info.expression rows_where_ttl_info.max rows_where_ttl_info.min table
    uncompressed_hash_of_compressed_files
  `),
};
