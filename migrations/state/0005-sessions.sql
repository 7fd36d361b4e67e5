-- Who is signed in to the console. A session names a credential, which is looked up anew for every request.

CREATE TABLE console_sessions (
  -- Of the cookie; the cookie itself is nowhere but in the browser.
  session_hash TEXT NOT NULL PRIMARY KEY,
  -- No foreign keys: a session whose organization or credential is gone is refused, and goes when its time is over.
  organization_id TEXT NOT NULL,
  -- 'key' or 'token'.
  kind TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  -- The hash of the secret that was shown at the door: a session ends when its key gets another secret.
  secret_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX console_sessions_by_credential ON console_sessions (organization_id, credential_id, created_at);

CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);
