-- Logout tokens of the identity provider work once: the hash of issuer and id, until the token has expired.
CREATE TABLE used_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
