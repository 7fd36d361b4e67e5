-- The audit log of an organization is a hash chain (docs/decisions/audit-chain.md). Activities from before are chained by
-- src/state/backfills.ts in the same transaction.

ALTER TABLE organizations ADD COLUMN audit_sequence BIGINT NOT NULL DEFAULT 0;

ALTER TABLE organizations ADD COLUMN audit_hash TEXT NOT NULL DEFAULT '';

-- From 1, without gaps, in the order of the commits.
ALTER TABLE activities ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;

ALTER TABLE activities ADD COLUMN hash TEXT NOT NULL DEFAULT '';

-- One index serves the id and the name of an actor, so that each change writes one index less.
DROP INDEX activities_by_actor_id;

DROP INDEX activities_by_actor_name;

CREATE INDEX activities_by_actor ON activities (organization_id, actor_name, actor_id, id);
