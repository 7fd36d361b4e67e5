-- Prices, from a day on. The list that ships with the program is version 1 and stands in no row.
CREATE TABLE price_books (
  version BIGINT NOT NULL PRIMARY KEY,
  effective_from TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL
);

-- What every day is made of. usage_costs holds the same by day and entity, ready to be read, and besides it books that
-- came from elsewhere. A row whose usage_date is another day than its date is an adjustment: usage that arrived after
-- its own day was locked. Quantities are decimal text: byte-hours outgrow a BIGINT that a program can hold exactly.
CREATE TABLE usage_ledger (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  date TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  meter TEXT NOT NULL,
  usage_date TEXT NOT NULL,
  quantity TEXT NOT NULL,
  price_version BIGINT NOT NULL,
  unit_price TEXT NOT NULL,
  micros BIGINT NOT NULL,
  PRIMARY KEY (organization_id, date, entity_type, entity_id, meter, usage_date)
);

CREATE INDEX usage_ledger_by_usage_date ON usage_ledger (organization_id, usage_date);

-- Days with metered usage. A day is rated again while its revision is ahead of the one it was rated at.
CREATE TABLE usage_days (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  date TEXT NOT NULL,
  revision BIGINT NOT NULL,
  rated_revision BIGINT NOT NULL,
  rated_at BIGINT NOT NULL,
  locked BIGINT NOT NULL,
  PRIMARY KEY (organization_id, date)
);

CREATE TABLE budgets (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- What a budget has told already, so that nothing is told twice, and deliveries that are still to be made.
CREATE TABLE budget_notices (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  budget_id TEXT NOT NULL,
  month TEXT NOT NULL,
  threshold TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, budget_id, month, threshold)
);
