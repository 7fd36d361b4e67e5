-- The attribute keys and metric streams that were received on a day, by their hash: what the limits of an organization count. Streams have no name.
CREATE TABLE IF NOT EXISTS pilothouse.ingest_series
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Day DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Signal LowCardinality(String) CODEC(ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Hash UInt32 CODEC(ZSTD(1)),
    Name String CODEC(ZSTD(1)),
    StoredAt DateTime('UTC') DEFAULT now('UTC') CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(Day)
ORDER BY (OrganizationId, Signal, Kind, Day, Hash)
TTL Day + INTERVAL 8 DAY;

-- What was received and not stored by a rule, and attributes that were removed because of a limit, by minute.
CREATE TABLE IF NOT EXISTS pilothouse.ingest_drops
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Time DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Signal LowCardinality(String) CODEC(ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Name String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Records UInt64 CODEC(ZSTD(1)),
    Bytes UInt64 CODEC(ZSTD(1))
)
ENGINE = SummingMergeTree((Records, Bytes))
PARTITION BY toYYYYMM(Time)
ORDER BY (OrganizationId, Time, Signal, Kind, Name, ServiceName)
TTL Time + INTERVAL 90 DAY;
