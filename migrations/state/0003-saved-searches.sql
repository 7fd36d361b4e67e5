-- Searches that people keep. The document is the saved search without its id and times.
CREATE TABLE saved_searches (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  document TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Whether a source is in use.
CREATE INDEX saved_searches_by_source ON saved_searches (organization_id, source_id);
