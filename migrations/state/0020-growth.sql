-- Indexes for queries that read more rows than they return. That of a list has its order, so a page is one range of it.

CREATE INDEX api_keys_by_time ON api_keys (organization_id, created_at, id);
CREATE INDEX api_keys_by_name ON api_keys (organization_id, sort_name, id);

CREATE INDEX dashboard_tokens_by_time ON dashboard_tokens (organization_id, created_at, id);

-- Read when a server starts; few dashboards come from a folder.
CREATE INDEX dashboards_provisioned ON dashboards (organization_id, id) WHERE provisioned_from IS NOT NULL;

-- The days of one entity: the primary key has the entities of one day.
CREATE INDEX usage_costs_by_entity ON usage_costs (organization_id, entity_type, entity_id, date);

-- Read every few seconds; nearly all alerts are delivered.
CREATE INDEX budget_notices_due ON budget_notices (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- The warehouse of a service, as in its document. Rows from before are filled by src/platform/state/backfills.ts.
ALTER TABLE services ADD COLUMN data_warehouse_id TEXT NOT NULL DEFAULT '';

CREATE INDEX services_by_warehouse ON services (organization_id, data_warehouse_id);
