-- Statements that may write and have not ended, stored before they are sent. The document has the statement without its
-- literals, and who runs it. Those of a server that was killed become activities when it starts again.
CREATE TABLE sql_intents (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  -- The data directory of the server.
  directory_id TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE INDEX sql_intents_by_directory ON sql_intents (directory_id, started_at);
