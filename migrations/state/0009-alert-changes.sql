-- When the states of alerts changed, for the annotations of charts.
CREATE INDEX alert_evaluations_changes ON alert_evaluations (organization_id, evaluated_at, window_end)
WHERE is_change = 1;
