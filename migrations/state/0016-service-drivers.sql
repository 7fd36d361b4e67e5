-- The generation of a service counts its changes. It is settled when the driver has reached it; simulated services always are.

ALTER TABLE services ADD COLUMN driver TEXT NOT NULL DEFAULT 'simulated';
ALTER TABLE services ADD COLUMN generation BIGINT NOT NULL DEFAULT 1;
ALTER TABLE services ADD COLUMN settled_generation BIGINT NOT NULL DEFAULT 1;

CREATE INDEX services_driven ON services (id) WHERE driver <> 'simulated';
CREATE INDEX services_unsettled ON services (id) WHERE generation <> settled_generation;

-- Deleted services whose driver has not removed them yet.
CREATE TABLE service_removals (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  driver TEXT NOT NULL,
  document TEXT NOT NULL,
  observed TEXT NOT NULL,
  removed_at BIGINT NOT NULL
);

-- Work that one process does at a time, and the process that does it.
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  renewed_at BIGINT NOT NULL
);
