-- The port of the endpoint of a service. It belongs to the service until the service is deleted, whether it is open or not.
CREATE TABLE endpoint_ports (
  port BIGINT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL
);

CREATE UNIQUE INDEX endpoint_ports_by_service ON endpoint_ports (service_id);

-- Usage of services that was measured and is not yet in the engine: at most one row that still grows for each service.
CREATE TABLE usage_slices (
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (service_id, id)
);
