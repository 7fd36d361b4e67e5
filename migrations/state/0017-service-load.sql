-- The load of services, one row per service and hour. `hour` is its start in epoch milliseconds, `samples` a JSON array
-- with at most one sample for each minute. Kept for 90 days.
CREATE TABLE service_load (
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  samples TEXT NOT NULL,
  PRIMARY KEY (organization_id, service_id, hour)
);

CREATE INDEX service_load_hours ON service_load (hour);

-- Changes of the size, and recommendations. Kept for 90 days.
CREATE TABLE autoscaling_decisions (
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  is_applied BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, service_id, id)
);

CREATE INDEX autoscaling_decisions_created ON autoscaling_decisions (created_at);
