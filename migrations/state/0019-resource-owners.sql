-- The service that drives a Kubernetes resource, such as `ClickHouseInstallation fleet/orders`: one in all organizations.
CREATE TABLE resource_owners (
  resource TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  service_id TEXT NOT NULL
);
CREATE INDEX resource_owners_by_service ON resource_owners (service_id);

-- Tells this store from others: marks on resources name it.
CREATE TABLE control_planes (
  id BIGINT NOT NULL PRIMARY KEY,
  identity TEXT NOT NULL
);
