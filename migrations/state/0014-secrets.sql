-- The keys that secrets are encrypted with, each by its fingerprint: the keys themselves are in a file of the server.
CREATE TABLE secret_keys (
  id TEXT NOT NULL PRIMARY KEY,
  registered_at BIGINT NOT NULL,
  -- When everything of before the first key was encrypted; null until then.
  sealed_at BIGINT,
  -- When a rotation had replaced the key everywhere; null while it is in use.
  retired_at BIGINT
);

-- What the audit log has as a number: refused calls of a credential, views through a link. One row per type, subject and hour;
-- when the hour has ended, it becomes one activity.
CREATE TABLE hourly_counts (
  organization_id TEXT NOT NULL,
  type TEXT NOT NULL,
  -- The credential or the link.
  subject_id TEXT NOT NULL,
  -- Its start, in epoch milliseconds.
  hour BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, type, subject_id, hour)
);

CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
