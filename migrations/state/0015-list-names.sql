-- The name in lower case, by which lists are sorted and searched. Rows from before are filled by src/platform/state/backfills.ts.

ALTER TABLE services ADD COLUMN sort_name TEXT NOT NULL DEFAULT '';

CREATE INDEX services_by_name ON services (organization_id, sort_name, id);

-- No index: an organization has few keys, and each index makes creating one slower.
ALTER TABLE api_keys ADD COLUMN sort_name TEXT NOT NULL DEFAULT '';
