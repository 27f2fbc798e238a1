-- The caller that handed a task or a file in over HTTP, for its quota; nothing
-- for tasks of the command line and of cyber reasoning systems.
ALTER TABLE submissions ADD COLUMN submitter TEXT;
ALTER TABLE submissions ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE files ADD COLUMN submitter TEXT;
ALTER TABLE files ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX submissions_by_submitter ON submissions (submitter, state, bytes);
CREATE INDEX files_by_submitter ON files (submitter, bytes);
