-- What was asked for (the document) and what the driver reported (observed) are separate: a driver writes the second without
-- touching the first. The document had the state; a quote inside a JSON string is escaped, so the patterns match members only.

ALTER TABLE services ADD COLUMN observed TEXT NOT NULL DEFAULT '{}';

UPDATE services SET observed = '{"state":"' || CASE
  WHEN document LIKE '%"state":"starting"%' THEN 'starting'
  WHEN document LIKE '%"state":"stopping"%' THEN 'stopping'
  WHEN document LIKE '%"state":"terminating"%' THEN 'terminating'
  WHEN document LIKE '%"state":"softdeleting"%' THEN 'softdeleting'
  WHEN document LIKE '%"state":"awaking"%' THEN 'awaking'
  WHEN document LIKE '%"state":"partially_running"%' THEN 'partially_running'
  WHEN document LIKE '%"state":"provisioning"%' THEN 'provisioning'
  WHEN document LIKE '%"state":"stopped"%' THEN 'stopped'
  WHEN document LIKE '%"state":"terminated"%' THEN 'terminated'
  WHEN document LIKE '%"state":"softdeleted"%' THEN 'softdeleted'
  WHEN document LIKE '%"state":"degraded"%' THEN 'degraded'
  WHEN document LIKE '%"state":"failed"%' THEN 'failed'
  WHEN document LIKE '%"state":"idle"%' THEN 'idle'
  ELSE 'running' END || '","since":' || created_at || '}';

UPDATE services SET document = replace(document, '"state":"starting"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"starting"%';
UPDATE services SET document = replace(document, '"state":"stopping"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"stopping"%';
UPDATE services SET document = replace(document, '"state":"terminating"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"terminating"%';
UPDATE services SET document = replace(document, '"state":"softdeleting"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"softdeleting"%';
UPDATE services SET document = replace(document, '"state":"awaking"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"awaking"%';
UPDATE services SET document = replace(document, '"state":"partially_running"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"partially_running"%';
UPDATE services SET document = replace(document, '"state":"provisioning"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"provisioning"%';
UPDATE services SET document = replace(document, '"state":"running"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"running"%';
UPDATE services SET document = replace(document, '"state":"stopped"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"stopped"%';
UPDATE services SET document = replace(document, '"state":"terminated"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"terminated"%';
UPDATE services SET document = replace(document, '"state":"softdeleted"', '"driver":"simulated","desiredState":"stopped"') WHERE document LIKE '%"state":"softdeleted"%';
UPDATE services SET document = replace(document, '"state":"degraded"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"degraded"%';
UPDATE services SET document = replace(document, '"state":"failed"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"failed"%';
UPDATE services SET document = replace(document, '"state":"idle"', '"driver":"simulated","desiredState":"running"') WHERE document LIKE '%"state":"idle"%';
