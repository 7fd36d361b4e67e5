-- Backups of the data of services. The files are in the backup directory of the node with the data directory directory_id.
-- A service that was deleted leaves its backups until expire_at.
CREATE TABLE service_backups (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  -- The full backup that an incremental one depends on; its own id for a full one.
  chain_id TEXT NOT NULL,
  directory_id TEXT NOT NULL,
  -- in_progress, done or error.
  status TEXT NOT NULL,
  -- What the node still has to do: backup, verify or remove. Null: nothing.
  pending TEXT,
  started_at BIGINT NOT NULL,
  expire_at BIGINT,
  size_bytes BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE INDEX service_backups_by_time ON service_backups (organization_id, service_id, started_at, id);

CREATE INDEX service_backups_pending ON service_backups (directory_id, started_at) WHERE pending IS NOT NULL;
