-- One file for libSQL and PostgreSQL: TEXT ids and JSON, BIGINT epoch milliseconds and micro-CHC, 0/1 for yes and no.
-- Records that are read and written whole are one JSON document; next to it are the columns that queries need. Both drivers
-- take time for each column: a row of two costs a third of a row of fourteen.

CREATE TABLE organizations (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  tier TEXT NOT NULL,
  paid BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- The number of keys: counting them for each new one would take longer the more there are.
  key_count BIGINT NOT NULL,
  -- Each is incremented by every change of the cost ledger, of the dashboards and of the custom roles. They are read together with
  -- the key or token, so what was computed can be cached until then, on every node.
  cost_revision BIGINT NOT NULL,
  dashboard_revision BIGINT NOT NULL DEFAULT 1,
  -- The newest activity of the audit log, which is a hash chain (docs/decisions/audit-chain.md).
  audit_sequence BIGINT NOT NULL DEFAULT 0,
  audit_hash TEXT NOT NULL DEFAULT '',
  role_revision BIGINT NOT NULL DEFAULT 1,
  -- The newest activity that the retention of the audit log removed: its number, its hash and when. The chain continues from there.
  audit_removed_sequence BIGINT NOT NULL DEFAULT 0,
  audit_removed_hash TEXT NOT NULL DEFAULT '',
  audit_removed_at BIGINT NOT NULL DEFAULT 0,
  -- The number and the size of the dashboards as of counted_revision, so that a quota is checked without reading all of them.
  dashboard_count BIGINT NOT NULL DEFAULT 0,
  dashboard_bytes BIGINT NOT NULL DEFAULT 0,
  counted_revision BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE activities (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  type TEXT NOT NULL DEFAULT '',
  actor_id TEXT NOT NULL DEFAULT '',
  actor_name TEXT NOT NULL DEFAULT '',
  resource_id TEXT NOT NULL DEFAULT '',
  -- From 1, without gaps, in the order of the commits.
  sequence BIGINT NOT NULL DEFAULT 0,
  hash TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (organization_id, id)
);

-- Ids are ordered by time, so each index returns the newest activities first and a page is one range of it.
CREATE INDEX activities_by_type ON activities (organization_id, type, id);
CREATE INDEX activities_by_actor_id ON activities (organization_id, actor_id, id);
CREATE INDEX activities_by_actor_name ON activities (organization_id, actor_name, id);
CREATE INDEX activities_by_resource ON activities (organization_id, resource_id, id);
-- The order in which the chain is verified.
CREATE INDEX activities_by_sequence ON activities (organization_id, sequence, id);

-- Responses to requests with an Idempotency-Key, stored in the transaction of the change and deleted after 24 hours.
CREATE TABLE idempotent_responses (
  organization_id TEXT NOT NULL,
  -- The key or token that sent the request. No foreign keys: a row ends with its time.
  credential_id TEXT NOT NULL,
  -- SHA-256 of the Idempotency-Key.
  key_hash TEXT NOT NULL,
  -- SHA-256 of the method, the URL and the body.
  request_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- JSON without secrets; null if it is too large.
  result TEXT,
  headers TEXT NOT NULL,
  PRIMARY KEY (organization_id, credential_id, key_hash)
);

CREATE INDEX idempotent_responses_by_time ON idempotent_responses (created_at);

-- API keys.
CREATE TABLE api_keys (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  key_id_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  used_at BIGINT,
  document TEXT NOT NULL,
  -- The name in lower case, by which lists are sorted and searched.
  sort_name TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (organization_id, id)
);

-- The index of a list has its order, so a page is one range of it.
CREATE INDEX api_keys_by_time ON api_keys (organization_id, created_at, id);
CREATE INDEX api_keys_by_name ON api_keys (organization_id, sort_name, id);

-- Which keys have a role. The document of a key has its roles too, so that a key is one row; these rows are the index of the
-- roles. The oldest keys of a role come first, as in lists.
CREATE TABLE key_roles (
  organization_id TEXT NOT NULL,
  -- The name of a system role, or the id of a custom role.
  role TEXT NOT NULL,
  -- Of the key.
  created_at BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  PRIMARY KEY (organization_id, role, created_at, key_id)
);

-- Roles that an organization defines.
CREATE TABLE custom_roles (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, name)
);

-- Database services. What was asked for (document) and what the driver reported (observed) are separate: a driver writes the
-- second without changing the first.
CREATE TABLE services (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  observed TEXT NOT NULL DEFAULT '{}',
  sort_name TEXT NOT NULL DEFAULT '',
  driver TEXT NOT NULL DEFAULT 'simulated',
  -- Counts the changes. It is settled when the driver has reached it; that of a simulated service always is.
  generation BIGINT NOT NULL DEFAULT 1,
  settled_generation BIGINT NOT NULL DEFAULT 1,
  -- As in the document.
  data_warehouse_id TEXT NOT NULL DEFAULT ''
);

CREATE INDEX services_by_organization ON services (organization_id, created_at, id);
CREATE INDEX services_by_name ON services (organization_id, sort_name, id);
CREATE INDEX services_by_warehouse ON services (organization_id, data_warehouse_id);
CREATE INDEX services_driven ON services (id) WHERE driver <> 'simulated';
CREATE INDEX services_unsettled ON services (id) WHERE generation <> settled_generation;

-- The tags of services, for lists that are filtered by tags. A tag has two rows: its key, and key=value.
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

-- Deleted services whose driver has not removed them yet.
CREATE TABLE service_removals (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  driver TEXT NOT NULL,
  document TEXT NOT NULL,
  observed TEXT NOT NULL,
  removed_at BIGINT NOT NULL
);

-- The port of the endpoint of a service. It belongs to the service until the service is deleted, whether it is open or not.
CREATE TABLE endpoint_ports (
  port BIGINT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL
);

CREATE UNIQUE INDEX endpoint_ports_by_service ON endpoint_ports (service_id);

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

-- Cost records by day and entity, ready to be read: the sums of the ledger, and records that were imported.
CREATE TABLE usage_costs (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  date TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  entity_name TEXT NOT NULL,
  data_warehouse_id TEXT NOT NULL,
  service_id TEXT,
  locked BIGINT NOT NULL,
  storage_micros BIGINT NOT NULL,
  backup_micros BIGINT NOT NULL,
  compute_micros BIGINT NOT NULL,
  data_transfer_micros BIGINT NOT NULL,
  initial_load_micros BIGINT NOT NULL,
  public_data_transfer_micros BIGINT NOT NULL,
  inter_region_tier1_micros BIGINT NOT NULL,
  inter_region_tier2_micros BIGINT NOT NULL,
  inter_region_tier3_micros BIGINT NOT NULL,
  inter_region_tier4_micros BIGINT NOT NULL,
  PRIMARY KEY (organization_id, date, entity_type, entity_id)
);

-- The days of one entity: the primary key has the entities of one day.
CREATE INDEX usage_costs_by_entity ON usage_costs (organization_id, entity_type, entity_id, date);

-- Prices, from a day on. The list that is part of the program is version 1 and has no row.
CREATE TABLE price_books (
  version BIGINT NOT NULL PRIMARY KEY,
  effective_from TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL
);

-- The entries of each day. A row whose usage_date is another day than its date is an adjustment: usage that arrived after its own
-- day was locked. Quantities are decimal text: byte-hours exceed the largest integer that is exact in a program.
CREATE TABLE usage_ledger (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  date TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  meter TEXT NOT NULL,
  usage_date TEXT NOT NULL,
  quantity TEXT NOT NULL,
  price_version BIGINT NOT NULL,
  unit_price TEXT NOT NULL,
  micros BIGINT NOT NULL,
  PRIMARY KEY (organization_id, date, entity_type, entity_id, meter, usage_date)
);

CREATE INDEX usage_ledger_by_usage_date ON usage_ledger (organization_id, usage_date);

-- Days with metered usage. A day is rated again while its revision is greater than the one it was rated at.
CREATE TABLE usage_days (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  date TEXT NOT NULL,
  revision BIGINT NOT NULL,
  rated_revision BIGINT NOT NULL,
  rated_at BIGINT NOT NULL,
  locked BIGINT NOT NULL,
  -- The number of events that were accepted for the day. It never decreases, and the engine must have at least as many.
  events BIGINT,
  -- Why the day is not rated: the engine is 'different', 'empty' or 'older'.
  mismatch TEXT,
  PRIMARY KEY (organization_id, date)
);

-- Rating reads open and changed days every few seconds. Nearly all other days are locked and up to date.
CREATE INDEX usage_days_open ON usage_days (organization_id, date) WHERE locked = 0;
CREATE INDEX usage_days_changed ON usage_days (organization_id, date) WHERE revision > rated_revision;
CREATE INDEX usage_days_mismatched ON usage_days (organization_id, date) WHERE mismatch IS NOT NULL;

-- The process that stores metered usage of an organization, one at a time on all nodes, and the days of that usage. Days of
-- a process that ended meanwhile stay here; they are rated once more.
CREATE TABLE usage_intakes (
  organization_id TEXT NOT NULL PRIMARY KEY REFERENCES organizations (id),
  holder TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  days TEXT NOT NULL
);

-- Usage of services that was measured and is not yet in the engine: at most one row that still grows for each service.
CREATE TABLE usage_slices (
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (service_id, id)
);

-- The engine that holds the usage events of this store: one row, with the identity from the engine's own table.
CREATE TABLE usage_engines (
  id BIGINT NOT NULL PRIMARY KEY,
  identity TEXT NOT NULL,
  bound_at BIGINT NOT NULL
);

-- When automatic locking last saw a plausible time, by the clock of the store: one row.
CREATE TABLE lock_clocks (
  id BIGINT NOT NULL PRIMARY KEY,
  passed_at BIGINT NOT NULL
);

CREATE TABLE budgets (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- The alerts of budgets, so that none is sent twice, and the deliveries that are still to be made.
CREATE TABLE budget_notices (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  budget_id TEXT NOT NULL,
  month TEXT NOT NULL,
  threshold TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, budget_id, month, threshold)
);

-- Read every few seconds; nearly all alerts are delivered.
CREATE INDEX budget_notices_due ON budget_notices (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE dashboard_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  token_suffix TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expire_at BIGINT,
  used_at BIGINT,
  -- 'read' or 'write'; a token with 'write' may also read.
  access TEXT NOT NULL DEFAULT 'read'
);

CREATE INDEX dashboard_tokens_by_time ON dashboard_tokens (organization_id, created_at, id);

CREATE TABLE dashboards (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL DEFAULT 1,
  -- The file of the dashboards folder that it is made from; such a dashboard changes with its file and in no other way.
  provisioned_from TEXT,
  PRIMARY KEY (organization_id, id)
);

-- Read when a server starts; few dashboards come from a folder.
CREATE INDEX dashboards_provisioned ON dashboards (organization_id, id) WHERE provisioned_from IS NOT NULL;

-- The saved versions. They stay when their dashboard is deleted, so that it can be restored.
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

-- The order in which old versions are removed.
CREATE INDEX dashboard_versions_by_time ON dashboard_versions (saved_at);

-- Deleted dashboards that still have versions, so that a deletion finds the oldest without reading the versions.
CREATE TABLE deleted_dashboards (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  dashboard_id TEXT NOT NULL,
  deleted_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, dashboard_id)
);

CREATE INDEX deleted_dashboards_by_time ON deleted_dashboards (organization_id, deleted_at, dashboard_id);

CREATE TABLE dashboard_sources (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- The last applied version of each resource in a fleet file, so that only what the file changed since then is changed here.
CREATE TABLE fleet_documents (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, kind, id)
);

-- One row. Applying a fleet file updates it first, so that two are never applied at once.
CREATE TABLE fleet_turns (
  id BIGINT NOT NULL PRIMARY KEY,
  turn BIGINT NOT NULL
);

INSERT INTO fleet_turns (id, turn) VALUES (1, 0);

-- Codes for creating the first organization in a browser. Each node of a store without an organization has one; the first organization
-- makes them all invalid.
CREATE TABLE setup_codes (
  -- base64(SHA-256(code)). The code itself is printed once, on standard error of the server.
  code_hash TEXT PRIMARY KEY NOT NULL,
  created_at BIGINT NOT NULL
);

-- Sessions of the console. A session refers to a credential, which is looked up for every request.
CREATE TABLE console_sessions (
  -- Of the cookie; only the browser has the cookie itself.
  session_hash TEXT NOT NULL PRIMARY KEY,
  -- No foreign keys: a session without its organization or credential is rejected, and is deleted when it expires.
  organization_id TEXT NOT NULL,
  -- 'key' or 'token'.
  kind TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  -- The hash of the secret at the sign-in: a session ends when its key gets another secret.
  secret_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX console_sessions_by_credential ON console_sessions (organization_id, credential_id, created_at);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);

-- The end of the session cookie's name: one row, random, created by the first server that opens the store. Other sites on
-- the host cannot know it, so they cannot set the cookie.
CREATE TABLE session_cookies (
  id BIGINT NOT NULL PRIMARY KEY,
  suffix TEXT NOT NULL
);

-- Work that one process does at a time, and the process that does it.
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  renewed_at BIGINT NOT NULL
);

-- Requests and failed attempts of all nodes (docs/decisions/shared-rate-limits.md). Only used on PostgreSQL, where migrate.ts makes
-- the table unlogged: it may be lost in a crash, and is not worth a write to the disk.
CREATE TABLE rate_windows (
  -- The kind of limit, and the id of a key or token or the address of a client.
  id TEXT PRIMARY KEY NOT NULL,
  -- Epoch milliseconds, by the clock of the database.
  ends_at BIGINT NOT NULL,
  taken BIGINT NOT NULL
);

CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);

-- The last restore that replaced this store: one row. A restore that was interrupted compares it with the id in its directory, to know
-- whether its transaction was committed.
CREATE TABLE completed_restores (
  id BIGINT PRIMARY KEY NOT NULL,
  restore_id TEXT NOT NULL,
  -- Epoch milliseconds.
  completed_at BIGINT NOT NULL
);

-- One row, updated to find out whether the store can be written to.
CREATE TABLE store_checks (
  id BIGINT NOT NULL PRIMARY KEY,
  count BIGINT NOT NULL
);

INSERT INTO store_checks (id, count) VALUES (1, 0);
