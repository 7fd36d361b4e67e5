-- The last restore that replaced this store: one row. A restore that was interrupted compares it with the id in its directory, to know
-- whether its transaction was committed.
CREATE TABLE completed_restores (
  id BIGINT PRIMARY KEY NOT NULL,
  restore_id TEXT NOT NULL,
  -- Epoch milliseconds.
  completed_at BIGINT NOT NULL
);
