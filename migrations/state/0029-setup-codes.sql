-- Codes for creating the first organization in a browser. Each node of a store without an organization has one; the first organization
-- makes them all invalid.
CREATE TABLE setup_codes (
  -- base64(SHA-256(code)). The code itself is printed once, on standard error of the server.
  code_hash TEXT PRIMARY KEY NOT NULL,
  created_at BIGINT NOT NULL
);
