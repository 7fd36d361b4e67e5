-- The engine that holds the usage events of this store: one row, with the identity from the engine's own table.
CREATE TABLE usage_engines (
  id BIGINT NOT NULL PRIMARY KEY,
  identity TEXT NOT NULL,
  bound_at BIGINT NOT NULL
);

-- The node that may use its embedded engine with this store: one row, renewed every few seconds.
CREATE TABLE engine_owners (
  id BIGINT NOT NULL PRIMARY KEY,
  node TEXT NOT NULL,
  directory TEXT NOT NULL,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  address TEXT NOT NULL,
  renewed_at BIGINT NOT NULL
);

-- When automatic locking last saw a plausible time, by the clock of the store: one row.
CREATE TABLE lock_clocks (
  id BIGINT NOT NULL PRIMARY KEY,
  passed_at BIGINT NOT NULL
);

-- The number of events that were accepted for the day. It never decreases, and the engine must have at least as many.
-- Unknown (null) for days from before this migration, until they are rated again.
ALTER TABLE usage_days ADD COLUMN events BIGINT;
-- Why the day is not rated: the engine is 'different', 'empty' or 'older'.
ALTER TABLE usage_days ADD COLUMN mismatch TEXT;
CREATE INDEX usage_days_mismatched ON usage_days (organization_id, date) WHERE mismatch IS NOT NULL;
