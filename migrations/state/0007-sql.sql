-- The last statements that each credential ran on each service. The document is the statement without its id and time.
CREATE TABLE sql_history (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  service_id TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  id TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, service_id, credential_id, id)
);

-- Statements that people keep, shared by everyone who may read a service. The document has the statement and its parameters.
CREATE TABLE saved_queries (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  service_id TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  name TEXT NOT NULL,
  database_name TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, service_id, id)
);

CREATE INDEX saved_queries_by_time ON saved_queries (organization_id, service_id, created_at, id);
