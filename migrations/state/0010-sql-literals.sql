-- Whether the activities of statements have their literals: 0 or 1.
ALTER TABLE organizations ADD COLUMN keep_sql_literals BIGINT NOT NULL DEFAULT 0;
