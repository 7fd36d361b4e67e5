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
