-- People who sign in to the console: one account per issuer and subject. Accounts of one organization that use no identity
-- provider have the issuer 'invitation:{organization id}' and the e-mail address as subject.
CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- Empty if the provider sent none.
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (issuer, subject)
);

-- The organizations of a user. Both lists of roles are documents: the roles that were assigned, and those that member rules
-- gave at the last sign-in or refresh.
CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  joined_at BIGINT NOT NULL,
  seen_at BIGINT,
  assigned TEXT NOT NULL,
  by_rules TEXT NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);

CREATE INDEX members_by_time ON members (organization_id, joined_at, user_id);
CREATE INDEX members_by_user ON members (user_id, joined_at);

CREATE TABLE invitations (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  -- In lower case.
  email TEXT NOT NULL,
  -- Of the link, which is shown once.
  secret_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expire_at BIGINT NOT NULL,
  -- The roles that the member gets.
  roles TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE INDEX invitations_by_email ON invitations (email, organization_id);

-- Who becomes a member by the claims of the identity provider, and with which roles.
ALTER TABLE organizations ADD COLUMN member_rules TEXT NOT NULL DEFAULT '[]';

-- Of members: the session at the identity provider, when the person proved who they are, when the provider was asked last,
-- and a document with the address, the browser and the encrypted tokens of the provider.
ALTER TABLE console_sessions ADD COLUMN provider_session TEXT NOT NULL DEFAULT '';
ALTER TABLE console_sessions ADD COLUMN authenticated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE console_sessions ADD COLUMN refreshed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE console_sessions ADD COLUMN document TEXT NOT NULL DEFAULT '{}';

CREATE INDEX console_sessions_by_user ON console_sessions (credential_id, created_at);
CREATE INDEX console_sessions_by_provider_session ON console_sessions (provider_session);
