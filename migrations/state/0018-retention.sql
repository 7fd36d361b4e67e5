-- The newest activity that the retention of the audit log removed: its number, its hash and when. The chain continues from
-- there (docs/decisions/audit-chain.md).
ALTER TABLE organizations ADD COLUMN audit_removed_sequence BIGINT NOT NULL DEFAULT 0;

ALTER TABLE organizations ADD COLUMN audit_removed_hash TEXT NOT NULL DEFAULT '';

ALTER TABLE organizations ADD COLUMN audit_removed_at BIGINT NOT NULL DEFAULT 0;

-- The order in which old versions are removed.
CREATE INDEX dashboard_versions_by_time ON dashboard_versions (saved_at);
