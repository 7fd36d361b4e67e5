-- Attribute values that occur in few places, such as the id of a request. docs/decisions/telemetry-tables.md has what this costs and saves.
ALTER TABLE pilothouse.otel_logs ADD INDEX IF NOT EXISTS attribute_values mapValues(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE pilothouse.otel_traces ADD INDEX IF NOT EXISTS attribute_values mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1;

-- When the spans of a trace started, a row per insert. The filter on TraceId in otel_traces has to read a block for every 8,192 spans instead.
CREATE TABLE IF NOT EXISTS pilothouse.otel_trace_times
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    First DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    Last DateTime64(9) CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(First)
ORDER BY (OrganizationId, TraceId, First)
TTL toDateTime(First) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_trace_times_view TO pilothouse.otel_trace_times AS
SELECT OrganizationId, TraceId, min(Timestamp) AS First, max(Timestamp) AS Last
FROM pilothouse.otel_traces
WHERE TraceId != ''
GROUP BY OrganizationId, TraceId, toDate(Timestamp);

-- How many rows have a value, by hour: the source of facets. Key is empty for columns that are not maps.
CREATE TABLE IF NOT EXISTS pilothouse.otel_logs_values
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Column LowCardinality(String) CODEC(ZSTD(1)),
    Key LowCardinality(String) CODEC(ZSTD(1)),
    Value String CODEC(ZSTD(1)),
    Rows UInt64 CODEC(ZSTD(1))
)
ENGINE = SummingMergeTree(Rows)
PARTITION BY toDate(Hour)
ORDER BY (OrganizationId, Column, Key, Hour, Value)
TTL toDateTime(Hour) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_logs_values_view TO pilothouse.otel_logs_values AS
SELECT OrganizationId, toDateTime(toStartOfHour(Timestamp), 'UTC') AS Hour, item.1 AS Column, item.2 AS Key, item.3 AS Value, count() AS Rows
FROM pilothouse.otel_logs
ARRAY JOIN arrayConcat(
    [('ServiceName', '', toString(ServiceName)), ('SeverityText', '', toString(SeverityText))],
    arrayMap((k, v) -> ('ResourceAttributes', toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)),
    arrayMap((k, v) -> ('LogAttributes', toString(k), v), mapKeys(LogAttributes), mapValues(LogAttributes))) AS item
WHERE length(item.3) <= 256
GROUP BY OrganizationId, Hour, Column, Key, Value;

CREATE TABLE IF NOT EXISTS pilothouse.otel_traces_values
(
    OrganizationId LowCardinality(String) CODEC(ZSTD(1)),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Column LowCardinality(String) CODEC(ZSTD(1)),
    Key LowCardinality(String) CODEC(ZSTD(1)),
    Value String CODEC(ZSTD(1)),
    Rows UInt64 CODEC(ZSTD(1))
)
ENGINE = SummingMergeTree(Rows)
PARTITION BY toDate(Hour)
ORDER BY (OrganizationId, Column, Key, Hour, Value)
TTL toDateTime(Hour) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.otel_traces_values_view TO pilothouse.otel_traces_values AS
SELECT OrganizationId, toDateTime(toStartOfHour(Timestamp), 'UTC') AS Hour, item.1 AS Column, item.2 AS Key, item.3 AS Value, count() AS Rows
FROM pilothouse.otel_traces
ARRAY JOIN arrayConcat(
    [('ServiceName', '', toString(ServiceName)), ('SpanName', '', toString(SpanName)), ('SpanKind', '', toString(SpanKind)), ('StatusCode', '', toString(StatusCode))],
    arrayMap((k, v) -> ('ResourceAttributes', toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)),
    arrayMap((k, v) -> ('SpanAttributes', toString(k), v), mapKeys(SpanAttributes), mapValues(SpanAttributes))) AS item
WHERE length(item.3) <= 256
GROUP BY OrganizationId, Hour, Column, Key, Value;
