-- One file for libSQL and PostgreSQL: TEXT ids and JSON, BIGINT epoch milliseconds and micro-CHC, 0/1 for yes and no.

CREATE TABLE organizations (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  tier TEXT NOT NULL,
  paid BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- How many keys there are: counting them for each new one would cost more the more there are.
  key_count BIGINT NOT NULL,
  -- Goes up with every change of the cost ledger, so that rendered days can be kept until it does.
  cost_revision BIGINT NOT NULL
);

-- Records that are read and written whole are one JSON document; beside it stand the columns that queries need.
-- Both drivers pay by the column: a row of two costs a third of a row of fourteen.

CREATE TABLE activities (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  key_id_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  used_at BIGINT,
  document TEXT NOT NULL
);

CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at, id);

CREATE TABLE services (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL
);

CREATE INDEX services_by_organization ON services (organization_id, created_at, id);

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

CREATE TABLE dashboard_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  token_suffix TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expire_at BIGINT,
  used_at BIGINT
);

CREATE TABLE dashboards (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE dashboard_sources (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- What a fleet file last said about a resource, so that only what the file changed since then is changed here.
CREATE TABLE fleet_documents (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, kind, id)
);

-- One row. Whoever applies a fleet file updates it first, so that two never apply at once.
CREATE TABLE fleet_turns (
  id BIGINT NOT NULL PRIMARY KEY,
  turn BIGINT NOT NULL
);

INSERT INTO fleet_turns (id, turn) VALUES (1, 0);

-- One row. Whoever wants to know whether the store can be written, writes here.
CREATE TABLE store_checks (
  id BIGINT NOT NULL PRIMARY KEY,
  count BIGINT NOT NULL
);

INSERT INTO store_checks (id, count) VALUES (1, 0);
