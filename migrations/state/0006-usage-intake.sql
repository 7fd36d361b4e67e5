-- Who is storing metered usage of an organization, and of which days: one at a time, on whichever node. Days that are
-- left standing are those of a process that ended in between; they are rated once more.
CREATE TABLE usage_intakes (
  organization_id TEXT NOT NULL PRIMARY KEY REFERENCES organizations (id),
  holder TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  days TEXT NOT NULL
);
