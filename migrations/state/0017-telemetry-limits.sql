-- Limits for received telemetry by signal, as JSON: {"logs": {"rowsPerMinute": 1000}}. Limits that are not named are those of the server.
ALTER TABLE organizations ADD COLUMN telemetry_limits TEXT NOT NULL DEFAULT '{}';
-- Rules that drop or sample received telemetry, as a JSON array in the order in which they apply.
ALTER TABLE organizations ADD COLUMN telemetry_rules TEXT NOT NULL DEFAULT '[]';
