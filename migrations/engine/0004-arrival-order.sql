-- Each row keeps the number of the block that it was inserted with, also after merges: the order of arrival, which live tails read.
-- ClickHouse numbers the blocks itself, so inserts need no column for it. docs/decisions/arrival-order.md has the reasons and the cost.
ALTER TABLE pilothouse.otel_logs MODIFY SETTING enable_block_number_column = 1;
ALTER TABLE pilothouse.otel_traces MODIFY SETTING enable_block_number_column = 1;
ALTER TABLE pilothouse.pilothouse_logs MODIFY SETTING enable_block_number_column = 1;
ALTER TABLE pilothouse.pilothouse_traces MODIFY SETTING enable_block_number_column = 1;
