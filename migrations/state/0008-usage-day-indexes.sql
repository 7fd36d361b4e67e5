-- Rating reads open and changed days every few seconds. Nearly all other days are locked and up to date.
CREATE INDEX usage_days_open ON usage_days (organization_id, date) WHERE locked = 0;
CREATE INDEX usage_days_changed ON usage_days (organization_id, date) WHERE revision > rated_revision;
