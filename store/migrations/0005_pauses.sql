-- Claims that were handed back in order: somebody said stop, or the run waits
-- until a model can answer again. They do not count against the task.
ALTER TABLE submissions ADD COLUMN handed_back BIGINT NOT NULL DEFAULT 0;

-- A task that waits for a time is put into the queue then, as one that is queued.
DROP INDEX submissions_to_issue;
CREATE INDEX submissions_to_issue ON submissions (due) WHERE state IN ('queued', 'paused') AND issued <> 1;
