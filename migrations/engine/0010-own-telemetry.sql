-- The server's own telemetry, in tables of its own: the sources of users read the otel_ tables and never see it. Moves the
-- rows of earlier versions. A repeated run moves nothing twice, because the new tables are not empty then.

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_logs AS pilothouse.otel_logs;

INSERT INTO pilothouse.pilothouse_logs
SELECT * FROM pilothouse.otel_logs
WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.')
  AND (SELECT count() FROM pilothouse.pilothouse_logs) = 0;

ALTER TABLE pilothouse.otel_logs DELETE WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.');

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_traces AS pilothouse.otel_traces;

INSERT INTO pilothouse.pilothouse_traces
SELECT * FROM pilothouse.otel_traces
WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.')
  AND (SELECT count() FROM pilothouse.pilothouse_traces) = 0;

ALTER TABLE pilothouse.otel_traces DELETE WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.');

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_gauge AS pilothouse.otel_metrics_gauge;

INSERT INTO pilothouse.pilothouse_metrics_gauge
SELECT * FROM pilothouse.otel_metrics_gauge
WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.')
  AND (SELECT count() FROM pilothouse.pilothouse_metrics_gauge) = 0;

ALTER TABLE pilothouse.otel_metrics_gauge DELETE WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.');

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_sum AS pilothouse.otel_metrics_sum;

INSERT INTO pilothouse.pilothouse_metrics_sum
SELECT * FROM pilothouse.otel_metrics_sum
WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.')
  AND (SELECT count() FROM pilothouse.pilothouse_metrics_sum) = 0;

ALTER TABLE pilothouse.otel_metrics_sum DELETE WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.');

CREATE TABLE IF NOT EXISTS pilothouse.pilothouse_metrics_histogram AS pilothouse.otel_metrics_histogram;

INSERT INTO pilothouse.pilothouse_metrics_histogram
SELECT * FROM pilothouse.otel_metrics_histogram
WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.')
  AND (SELECT count() FROM pilothouse.pilothouse_metrics_histogram) = 0;

ALTER TABLE pilothouse.otel_metrics_histogram DELETE WHERE ServiceName = 'pilothouse' AND startsWith(ScopeName, 'pilothouse.');
