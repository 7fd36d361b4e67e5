-- When the states of alerts changed, for the annotations of charts.
CREATE INDEX alert_evaluations_changes ON alert_evaluations (organization_id, evaluated_at) WHERE is_change = 1;
