-- Metered usage, as it was sent. Nothing here is ever removed: the ledger can be computed from it again at any time.
-- The order begins with the hour, so that parts written one after the other hardly overlap and FINAL has little to do.
CREATE TABLE IF NOT EXISTS pilothouse.usage_events
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    EntityType LowCardinality(String) CODEC(ZSTD(1)),
    EntityId String CODEC(ZSTD(1)),
    Meter LowCardinality(String) CODEC(ZSTD(1)),
    Time DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Source LowCardinality(String) CODEC(ZSTD(1)),
    Id String CODEC(ZSTD(1)),
    Quantity Decimal(38, 6) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(Time)
PRIMARY KEY (OrganizationId, toStartOfHour(Time), EntityType, EntityId)
ORDER BY (OrganizationId, toStartOfHour(Time), EntityType, EntityId, Meter, Time, Source, Id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Every id that was ever counted, by its hash: one that comes again is found among a billion others in a few small reads.
CREATE TABLE IF NOT EXISTS pilothouse.usage_event_ids
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hash FixedString(16) CODEC(NONE)
)
ENGINE = ReplacingMergeTree
ORDER BY (OrganizationId, Hash)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- Written with the events themselves, by the same insert.
CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.usage_event_ids_of_events TO pilothouse.usage_event_ids AS
SELECT OrganizationId, MD5(concat(Source, '\0', Id)) AS Hash
FROM pilothouse.usage_events;
