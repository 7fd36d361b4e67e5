-- The number and the size of the dashboards, so that a quota is checked without reading all of them. They are counted again if
-- counted_revision is not dashboard_revision: a node with an older version has changed a dashboard.
ALTER TABLE organizations ADD COLUMN dashboard_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organizations ADD COLUMN dashboard_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organizations ADD COLUMN counted_revision BIGINT NOT NULL DEFAULT 0;

-- Deleted dashboards that still have versions, so that a deletion finds the oldest without reading the versions.
CREATE TABLE deleted_dashboards (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  dashboard_id TEXT NOT NULL,
  deleted_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, dashboard_id)
);

CREATE INDEX deleted_dashboards_by_time ON deleted_dashboards (organization_id, deleted_at, dashboard_id);

INSERT INTO deleted_dashboards (organization_id, dashboard_id, deleted_at)
SELECT dashboard_versions.organization_id, dashboard_versions.dashboard_id, max(dashboard_versions.saved_at)
FROM dashboard_versions
LEFT JOIN dashboards ON dashboards.organization_id = dashboard_versions.organization_id
  AND dashboards.id = dashboard_versions.dashboard_id
WHERE dashboards.id IS NULL
GROUP BY dashboard_versions.organization_id, dashboard_versions.dashboard_id;
