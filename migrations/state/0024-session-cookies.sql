-- The end of the session cookie's name: one row, random, created by the first server that opens the store. Other sites on
-- the host cannot know it, so they cannot set the cookie.
CREATE TABLE session_cookies (
  id BIGINT NOT NULL PRIMARY KEY,
  suffix TEXT NOT NULL
);
