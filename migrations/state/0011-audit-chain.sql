-- The audit log of an organization is a hash chain (docs/decisions/audit-chain.md). Activities from before are chained by
-- src/platform/state/backfills.ts in the same transaction.

ALTER TABLE organizations ADD COLUMN audit_sequence BIGINT NOT NULL DEFAULT 0;

ALTER TABLE organizations ADD COLUMN audit_hash TEXT NOT NULL DEFAULT '';

-- From 1, without gaps, in the order of the commits.
ALTER TABLE activities ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;

ALTER TABLE activities ADD COLUMN hash TEXT NOT NULL DEFAULT '';

-- The order in which the chain is verified.
CREATE INDEX activities_by_sequence ON activities (organization_id, sequence, id);
