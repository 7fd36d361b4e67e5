-- Dashboards that people write: tokens that may change them, every version of each, and where a file's ones come from.

-- 'read' or 'write'; a token of 'write' may also read.
ALTER TABLE dashboard_tokens ADD COLUMN access TEXT NOT NULL DEFAULT 'read';

-- Goes up with every change of the dashboards, so that rendered answers can be kept until it does.
ALTER TABLE organizations ADD COLUMN dashboard_revision BIGINT NOT NULL DEFAULT 1;

ALTER TABLE dashboards ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- The file of the dashboards folder that it is made from; such a dashboard changes with its file and in no other way.
ALTER TABLE dashboards ADD COLUMN provisioned_from TEXT;

-- Every version that was ever saved. They outlive their dashboard, which can so be restored after it was deleted.
CREATE TABLE dashboard_versions (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  dashboard_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  saved_at BIGINT NOT NULL,
  saved_by TEXT NOT NULL,
  provisioned_from TEXT,
  name TEXT NOT NULL,
  tile_count BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, dashboard_id, version)
);

-- What is stored so far is the first version of each. A tile has one list of series, and a quote inside a text is escaped.
INSERT INTO dashboard_versions (organization_id, dashboard_id, version, saved_at, saved_by, name, tile_count, document)
SELECT organization_id, id, 1, updated_at, 'fleet', name,
  (length(document) - length(replace(document, '"series":[', ''))) / 10, document
FROM dashboards;
