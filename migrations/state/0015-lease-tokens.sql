-- Greater with each acquisition: a transaction of an earlier one is refused.
ALTER TABLE leases ADD COLUMN token BIGINT NOT NULL DEFAULT 0;
-- Identifies the process of the holder beyond its host and id, as a JSON document. Empty if that is not known.
ALTER TABLE leases ADD COLUMN process TEXT NOT NULL DEFAULT '';
