-- Requests and failed attempts of all nodes (docs/decisions/shared-rate-limits.md). Only used on PostgreSQL, where the table is
-- unlogged: it may be lost in a crash, and is not worth a write to the disk.
CREATE TABLE rate_windows (
  -- The kind of limit, and the id of a key or token or the address of a client.
  id TEXT PRIMARY KEY NOT NULL,
  -- Epoch milliseconds, by the clock of the database.
  ends_at BIGINT NOT NULL,
  taken BIGINT NOT NULL
);

CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
