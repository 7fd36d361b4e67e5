CREATE DATABASE IF NOT EXISTS pilothouse ON CLUSTER 'main';

CREATE TABLE IF NOT EXISTS pilothouse.otel_logs_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    TraceFlags UInt8 CODEC(ZSTD(1)),
    SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    SeverityNumber UInt8 CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Body String CODEC(ZSTD(1)),
    ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    EventName String CODEC(ZSTD(1)),
    INDEX trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_logs_local', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrganizationId, toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_logs ON CLUSTER 'main' AS pilothouse.otel_logs_local
ENGINE = Distributed('main', 'pilothouse', 'otel_logs_local', if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_traces_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    Events Nested
    (
        Timestamp DateTime64(9),
        Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    Links Nested
    (
        TraceId String,
        SpanId String,
        TraceState String,
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    INDEX trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_traces_local', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrganizationId, toStartOfFiveMinutes(Timestamp), ServiceName, SpanName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_traces ON CLUSTER 'main' AS pilothouse.otel_traces_local
ENGINE = Distributed('main', 'pilothouse', 'otel_traces_local', if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_gauge_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Value Float64 CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_metrics_gauge_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_gauge ON CLUSTER 'main' AS pilothouse.otel_metrics_gauge_local
ENGINE = Distributed('main', 'pilothouse', 'otel_metrics_gauge_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_sum_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Value Float64 CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    AggregationTemporality Int32 CODEC(ZSTD(1)),
    IsMonotonic Bool CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_metrics_sum_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_sum ON CLUSTER 'main' AS pilothouse.otel_metrics_sum_local
ENGINE = Distributed('main', 'pilothouse', 'otel_metrics_sum_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_histogram_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    BucketCounts Array(UInt64) CODEC(ZSTD(1)),
    ExplicitBounds Array(Float64) CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    Min Float64 CODEC(ZSTD(1)),
    Max Float64 CODEC(ZSTD(1)),
    AggregationTemporality Int32 CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_metrics_histogram_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_histogram ON CLUSTER 'main' AS pilothouse.otel_metrics_histogram_local
ENGINE = Distributed('main', 'pilothouse', 'otel_metrics_histogram_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_summary_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ValueAtQuantiles Nested (Quantile Float64, Value Float64) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_metrics_summary_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_summary ON CLUSTER 'main' AS pilothouse.otel_metrics_summary_local
ENGINE = Distributed('main', 'pilothouse', 'otel_metrics_summary_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_exponential_histogram_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    Scale Int32 CODEC(ZSTD(1)),
    ZeroCount UInt64 CODEC(ZSTD(1)),
    PositiveOffset Int32 CODEC(ZSTD(1)),
    PositiveBucketCounts Array(UInt64) CODEC(ZSTD(1)),
    NegativeOffset Int32 CODEC(ZSTD(1)),
    NegativeBucketCounts Array(UInt64) CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    Min Float64 CODEC(ZSTD(1)),
    Max Float64 CODEC(ZSTD(1)),
    AggregationTemporality Int32 CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_metrics_exponential_histogram_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_metrics_exponential_histogram ON CLUSTER 'main' AS pilothouse.otel_metrics_exponential_histogram_local
ENGINE = Distributed('main', 'pilothouse', 'otel_metrics_exponential_histogram_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.usage_events_local ON CLUSTER 'main'
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/pilothouse/usage_events_local', '{replica}')
PARTITION BY toYYYYMM(Time)
PRIMARY KEY (OrganizationId, toStartOfHour(Time), EntityType, EntityId)
ORDER BY (OrganizationId, toStartOfHour(Time), EntityType, EntityId, Meter, Time, Source, Id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS pilothouse.usage_events ON CLUSTER 'main' AS pilothouse.usage_events_local
ENGINE = Distributed('main', 'pilothouse', 'usage_events_local', cityHash64(OrganizationId, EntityType, EntityId, Meter, Time, Source, Id));

CREATE TABLE IF NOT EXISTS pilothouse.usage_event_ids_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hash FixedString(16) CODEC(NONE)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/pilothouse/usage_event_ids_local', '{replica}')
ORDER BY (OrganizationId, Hash)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384,
    fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS pilothouse.usage_event_ids ON CLUSTER 'main' AS pilothouse.usage_event_ids_local
ENGINE = Distributed('main', 'pilothouse', 'usage_event_ids_local', cityHash64(OrganizationId, Hash));

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.usage_event_ids_of_events ON CLUSTER 'main' TO pilothouse.usage_event_ids_local AS
SELECT OrganizationId, MD5(concat(Source, '\0', Id)) AS Hash
FROM pilothouse.usage_events_local;

CREATE TABLE IF NOT EXISTS pilothouse.engine_identity_local ON CLUSTER 'main'
(
    Identity String,
    CreatedAt DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/engine_identity_local', '{replica}')
ORDER BY (CreatedAt, Identity)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS pilothouse.engine_identity ON CLUSTER 'main' AS pilothouse.engine_identity_local
ENGINE = Distributed('main', 'pilothouse', 'engine_identity_local', cityHash64(CreatedAt, Identity));

INSERT INTO pilothouse.engine_identity (Identity)
SELECT toString(generateUUIDv4()) WHERE (SELECT count() FROM pilothouse.engine_identity) = 0;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_logs_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    TraceFlags UInt8 CODEC(ZSTD(1)),
    SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    SeverityNumber UInt8 CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Body String CODEC(ZSTD(1)),
    ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    EventName String CODEC(ZSTD(1)),
    INDEX trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/pilothouse_logs_local', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrganizationId, toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_logs ON CLUSTER 'main' AS pilothouse.pilothouse_logs_local
ENGINE = Distributed('main', 'pilothouse', 'pilothouse_logs_local', if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId)));

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_traces_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    Events Nested
    (
        Timestamp DateTime64(9),
        Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    Links Nested
    (
        TraceId String,
        SpanId String,
        TraceState String,
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    INDEX trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/pilothouse_traces_local', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrganizationId, toStartOfFiveMinutes(Timestamp), ServiceName, SpanName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_traces ON CLUSTER 'main' AS pilothouse.pilothouse_traces_local
ENGINE = Distributed('main', 'pilothouse', 'pilothouse_traces_local', if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId)));

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_gauge_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Value Float64 CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/pilothouse_metrics_gauge_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_gauge ON CLUSTER 'main' AS pilothouse.pilothouse_metrics_gauge_local
ENGINE = Distributed('main', 'pilothouse', 'pilothouse_metrics_gauge_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_sum_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Value Float64 CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    AggregationTemporality Int32 CODEC(ZSTD(1)),
    IsMonotonic Bool CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/pilothouse_metrics_sum_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_sum ON CLUSTER 'main' AS pilothouse.pilothouse_metrics_sum_local
ENGINE = Distributed('main', 'pilothouse', 'pilothouse_metrics_sum_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_histogram_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceSchemaUrl String CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeDroppedAttrCount UInt32 CODEC(ZSTD(1)),
    ScopeSchemaUrl String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription String CODEC(ZSTD(1)),
    MetricUnit String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    StartTimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimeUnix DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    BucketCounts Array(UInt64) CODEC(ZSTD(1)),
    ExplicitBounds Array(Float64) CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    Min Float64 CODEC(ZSTD(1)),
    Max Float64 CODEC(ZSTD(1)),
    AggregationTemporality Int32 CODEC(ZSTD(1)),
    Exemplars Nested
    (
        FilteredAttributes Map(LowCardinality(String), String),
        TimeUnix DateTime64(9),
        Value Float64,
        SpanId String,
        TraceId String
    ) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/pilothouse_metrics_histogram_local', '{replica}')
PARTITION BY toDate(TimeUnix)
ORDER BY (OrganizationId, MetricName, ServiceName, toStartOfHour(TimeUnix), cityHash64(mapKeys(Attributes), mapValues(Attributes)), TimeUnix)
TTL toDateTime(TimeUnix) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_histogram ON CLUSTER 'main' AS pilothouse.pilothouse_metrics_histogram_local
ENGINE = Distributed('main', 'pilothouse', 'pilothouse_metrics_histogram_local', cityHash64(OrganizationId, MetricName, ServiceName, mapKeys(Attributes), mapValues(Attributes)));

ALTER TABLE pilothouse.otel_logs_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_traces_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_metrics_gauge_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_metrics_sum_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_metrics_histogram_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_metrics_exponential_histogram_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE pilothouse.otel_metrics_summary_local ON CLUSTER 'main' MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS pilothouse.ingest_counts_local ON CLUSTER 'main'
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
ENGINE = ReplicatedSummingMergeTree('/clickhouse/tables/{shard}/pilothouse/ingest_counts_local', '{replica}', (Records, Bytes))
PARTITION BY toYYYYMM(Time)
ORDER BY (OrganizationId, Time, Signal, TokenId, ServiceName, Reason)
TTL Time + INTERVAL 90 DAY;

CREATE TABLE IF NOT EXISTS pilothouse.ingest_counts ON CLUSTER 'main' AS pilothouse.ingest_counts_local
ENGINE = Distributed('main', 'pilothouse', 'ingest_counts_local', cityHash64(OrganizationId, Time, Signal, TokenId, ServiceName, Reason));

ALTER TABLE pilothouse.otel_logs_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS attribute_values mapValues(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE pilothouse.otel_traces_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS attribute_values mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_trace_times_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    First DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Last DateTime64(9) CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_trace_times_local', '{replica}')
PARTITION BY toDate(First)
ORDER BY (OrganizationId, TraceId, First)
TTL toDateTime(First) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_trace_times ON CLUSTER 'main' AS pilothouse.otel_trace_times_local
ENGINE = Distributed('main', 'pilothouse', 'otel_trace_times_local', if(TraceId = '', rand64(), cityHash64(OrganizationId, TraceId)));

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_trace_times_view ON CLUSTER 'main' TO pilothouse.otel_trace_times_local AS
SELECT OrganizationId, TraceId, min(Timestamp) AS First, max(Timestamp) AS Last
FROM pilothouse.otel_traces_local
WHERE TraceId != ''
GROUP BY OrganizationId, TraceId, toDate(Timestamp);

CREATE TABLE IF NOT EXISTS pilothouse.otel_logs_values_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Column LowCardinality(String) CODEC(ZSTD(1)),
    Key LowCardinality(String) CODEC(ZSTD(1)),
    Value String CODEC(ZSTD(1)),
    Rows UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_logs_values_local', '{replica}', Rows)
PARTITION BY toDate(Hour)
ORDER BY (OrganizationId, Column, Key, Hour, Value)
TTL toDateTime(Hour) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_logs_values ON CLUSTER 'main' AS pilothouse.otel_logs_values_local
ENGINE = Distributed('main', 'pilothouse', 'otel_logs_values_local', cityHash64(OrganizationId, Column, Key, Hour, Value));

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_logs_values_view ON CLUSTER 'main' TO pilothouse.otel_logs_values_local AS
SELECT OrganizationId, toDateTime(toStartOfHour(Timestamp), 'UTC') AS Hour, item.1 AS Column, item.2 AS Key, item.3 AS Value, count() AS Rows
FROM pilothouse.otel_logs_local
ARRAY JOIN arrayConcat(
    [('ServiceName', '', toString(ServiceName)), ('SeverityText', '', toString(SeverityText))],
    arrayMap((k, v) -> ('ResourceAttributes', toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)),
    arrayMap((k, v) -> ('LogAttributes', toString(k), v), mapKeys(LogAttributes), mapValues(LogAttributes))) AS item
WHERE length(item.3) <= 256
GROUP BY OrganizationId, Hour, Column, Key, Value;

CREATE TABLE IF NOT EXISTS pilothouse.otel_traces_values_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Column LowCardinality(String) CODEC(ZSTD(1)),
    Key LowCardinality(String) CODEC(ZSTD(1)),
    Value String CODEC(ZSTD(1)),
    Rows UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/tables/{shard}/pilothouse/otel_traces_values_local', '{replica}', Rows)
PARTITION BY toDate(Hour)
ORDER BY (OrganizationId, Column, Key, Hour, Value)
TTL toDateTime(Hour) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS pilothouse.otel_traces_values ON CLUSTER 'main' AS pilothouse.otel_traces_values_local
ENGINE = Distributed('main', 'pilothouse', 'otel_traces_values_local', cityHash64(OrganizationId, Column, Key, Hour, Value));

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_traces_values_view ON CLUSTER 'main' TO pilothouse.otel_traces_values_local AS
SELECT OrganizationId, toDateTime(toStartOfHour(Timestamp), 'UTC') AS Hour, item.1 AS Column, item.2 AS Key, item.3 AS Value, count() AS Rows
FROM pilothouse.otel_traces_local
ARRAY JOIN arrayConcat(
    [('ServiceName', '', toString(ServiceName)), ('SpanName', '', toString(SpanName)), ('SpanKind', '', toString(SpanKind)), ('StatusCode', '', toString(StatusCode))],
    arrayMap((k, v) -> ('ResourceAttributes', toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)),
    arrayMap((k, v) -> ('SpanAttributes', toString(k), v), mapKeys(SpanAttributes), mapValues(SpanAttributes))) AS item
WHERE length(item.3) <= 256
GROUP BY OrganizationId, Hour, Column, Key, Value;

ALTER TABLE pilothouse.otel_logs_local ON CLUSTER 'main' MODIFY SETTING enable_block_number_column = 1;

ALTER TABLE pilothouse.otel_traces_local ON CLUSTER 'main' MODIFY SETTING enable_block_number_column = 1;

ALTER TABLE pilothouse.pilothouse_logs_local ON CLUSTER 'main' MODIFY SETTING enable_block_number_column = 1;

ALTER TABLE pilothouse.pilothouse_traces_local ON CLUSTER 'main' MODIFY SETTING enable_block_number_column = 1;

CREATE TABLE IF NOT EXISTS pilothouse.ingest_series_local ON CLUSTER 'main'
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Day DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Signal LowCardinality(String) CODEC(ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Hash UInt32 CODEC(ZSTD(1)),
    Name String CODEC(ZSTD(1)),
    StoredAt DateTime('UTC') DEFAULT now('UTC') CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/pilothouse/ingest_series_local', '{replica}')
PARTITION BY toDate(Day)
ORDER BY (OrganizationId, Signal, Kind, Day, Hash)
TTL Day + INTERVAL 8 DAY;

CREATE TABLE IF NOT EXISTS pilothouse.ingest_series ON CLUSTER 'main' AS pilothouse.ingest_series_local
ENGINE = Distributed('main', 'pilothouse', 'ingest_series_local', cityHash64(OrganizationId, Signal, Kind, Day, Hash));

CREATE TABLE IF NOT EXISTS pilothouse.ingest_drops_local ON CLUSTER 'main'
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
ENGINE = ReplicatedSummingMergeTree('/clickhouse/tables/{shard}/pilothouse/ingest_drops_local', '{replica}', (Records, Bytes))
PARTITION BY toYYYYMM(Time)
ORDER BY (OrganizationId, Time, Signal, Kind, Name, ServiceName)
TTL Time + INTERVAL 90 DAY;

CREATE TABLE IF NOT EXISTS pilothouse.ingest_drops ON CLUSTER 'main' AS pilothouse.ingest_drops_local
ENGINE = Distributed('main', 'pilothouse', 'ingest_drops_local', cityHash64(OrganizationId, Time, Signal, Kind, Name, ServiceName));
