-- The keys that secrets are encrypted with, each by its fingerprint: the keys themselves are in a file of the server.
CREATE TABLE secret_keys (
  id TEXT NOT NULL PRIMARY KEY,
  registered_at BIGINT NOT NULL,
  -- When everything of before the first key was encrypted; null until then.
  sealed_at BIGINT,
  -- When a rotation had replaced the key everywhere; null while it is in use.
  retired_at BIGINT
);
