-- Where notifications go: webhooks, chat, paging, mail. The document has the address and its secrets.
CREATE TABLE channels (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  service TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE UNIQUE INDEX channels_by_name ON channels (organization_id, service, name);

-- Notifications with the state of their delivery. channel_id is NULL for the webhook of a budget.
CREATE TABLE notifications (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  channel_id TEXT,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Read every few seconds; nearly all notifications are delivered.
CREATE INDEX notifications_due ON notifications (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
-- Those about one incident are sent in order.
CREATE INDEX notifications_pending ON notifications (organization_id, event_id, created_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX notifications_by_time ON notifications (organization_id, created_at, id);
CREATE INDEX notifications_by_subject ON notifications (organization_id, subject_id, created_at, id);

-- document: what clients send. status: the state, silence and last evaluation, without groups.
CREATE TABLE alerts (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  saved_search_id TEXT,
  document TEXT NOT NULL,
  status TEXT NOT NULL,
  next_evaluation_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE INDEX alerts_due ON alerts (next_evaluation_at);

-- The groups of each alert that are not simply ok.
CREATE TABLE alert_groups (
  organization_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, alert_id)
);

-- One row per evaluated window. Those that changed the state are kept longer.
CREATE TABLE alert_evaluations (
  organization_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  evaluated_at BIGINT NOT NULL,
  window_end BIGINT NOT NULL,
  is_change BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, alert_id, evaluated_at, window_end)
);

CREATE INDEX alert_evaluations_by_time ON alert_evaluations (is_change, evaluated_at);
