-- Telemetry that was accepted is on disk.
ALTER TABLE pilothouse.otel_logs MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_traces MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_metrics_gauge MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_metrics_sum MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_metrics_histogram MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_metrics_exponential_histogram MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE pilothouse.otel_metrics_summary MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

-- What was received, by minute. Rejected records have a reason and a sample of one of them.
CREATE TABLE IF NOT EXISTS pilothouse.ingest_counts
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Time DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Signal LowCardinality(String) CODEC(ZSTD(1)),
    TokenId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Reason LowCardinality(String) CODEC(ZSTD(1)),
    Records UInt64 CODEC(ZSTD(1)),
    Bytes UInt64 CODEC(ZSTD(1)),
    Sample String CODEC(ZSTD(1))
)
ENGINE = SummingMergeTree((Records, Bytes))
PARTITION BY toYYYYMM(Time)
ORDER BY (OrganizationId, Time, Signal, TokenId, ServiceName, Reason)
TTL Time + INTERVAL 90 DAY;
