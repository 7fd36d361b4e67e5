-- A service has a port for each protocol.
ALTER TABLE endpoint_ports ADD COLUMN protocol TEXT NOT NULL DEFAULT 'http';
DROP INDEX endpoint_ports_by_service;
CREATE UNIQUE INDEX endpoint_ports_by_service ON endpoint_ports (service_id, protocol);
