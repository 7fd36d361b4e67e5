-- Days that logs, traces and metrics are kept, as JSON: {"logs": 7}. Signals without a number have the server's retention.
ALTER TABLE organizations ADD COLUMN telemetry_retention TEXT NOT NULL DEFAULT '{}';
