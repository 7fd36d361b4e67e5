-- Read-only links to one dashboard, which work without an account until they expire. Only the hash of the secret is stored.
CREATE TABLE dashboard_links (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  dashboard_id TEXT NOT NULL,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  secret_suffix TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  expire_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE INDEX dashboard_links_by_time ON dashboard_links (organization_id, created_at, id);

-- Events that charts show, such as deploys. Times are epoch milliseconds; end_time is time unless the event has a length.
CREATE TABLE annotations (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  -- Null: on every dashboard.
  dashboard_id TEXT,
  document TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE INDEX annotations_by_time ON annotations (organization_id, time, id);
