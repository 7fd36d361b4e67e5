-- The identity of this engine: one random value, created once. The state store remembers it, so that usage is never rated
-- from an engine that does not have its events. Two nodes that migrate at the same time may add two rows; either one counts.
CREATE TABLE IF NOT EXISTS pilothouse.engine_identity
(
    Identity String,
    CreatedAt DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (CreatedAt, Identity)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO pilothouse.engine_identity (Identity)
SELECT toString(generateUUIDv4()) WHERE (SELECT count() FROM pilothouse.engine_identity) = 0;
