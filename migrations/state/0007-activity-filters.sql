-- The columns that filters of the audit log read, in addition to the document. Rows from before are filled by
-- src/platform/state/backfills.ts in the same transaction: the stores have no JSON functions in common.

ALTER TABLE activities ADD COLUMN type TEXT NOT NULL DEFAULT '';

ALTER TABLE activities ADD COLUMN actor_id TEXT NOT NULL DEFAULT '';

ALTER TABLE activities ADD COLUMN actor_name TEXT NOT NULL DEFAULT '';

ALTER TABLE activities ADD COLUMN resource_id TEXT NOT NULL DEFAULT '';

-- Ids are ordered by time, so each index returns the newest activities first and a page is one range of it.
CREATE INDEX activities_by_type ON activities (organization_id, type, id);

CREATE INDEX activities_by_actor_id ON activities (organization_id, actor_id, id);

CREATE INDEX activities_by_actor_name ON activities (organization_id, actor_name, id);

CREATE INDEX activities_by_resource ON activities (organization_id, resource_id, id);
