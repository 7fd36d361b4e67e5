-- The tags of services, for lists that are filtered by tags. A tag has two rows: its key, and key=value.
-- Rows of services from before are added by src/platform/state/backfills.ts.

CREATE TABLE service_tags (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL,
  tag TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  sort_name TEXT NOT NULL,
  warehouse_id TEXT,
  PRIMARY KEY (organization_id, id, tag)
);

CREATE INDEX service_tags_by_time ON service_tags (organization_id, tag, created_at, id);
CREATE INDEX service_tags_by_name ON service_tags (organization_id, tag, sort_name, id);
