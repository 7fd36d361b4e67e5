-- The primary key begins with the organization, so it serves the look-up and the list: one index less to keep for every new key.

CREATE TABLE api_keys_anew (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  key_id_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  used_at BIGINT,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

INSERT INTO api_keys_anew (organization_id, id, key_id_hash, created_at, used_at, document)
SELECT organization_id, id, key_id_hash, created_at, used_at, document FROM api_keys;

DROP TABLE api_keys;

ALTER TABLE api_keys_anew RENAME TO api_keys;
