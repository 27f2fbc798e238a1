-- The narrow row of each run that lists and plots read: the row of the run
-- itself is as large as its report.
CREATE TABLE run_summaries (
    run TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    created TEXT NOT NULL,
    ended TEXT,
    ending TEXT,
    attempts BIGINT,
    usd DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    p_right DOUBLE PRECISION
);
INSERT INTO run_summaries (run, task, created, ending, ended)
    SELECT id, task, created, ending,
    CASE WHEN ending IS NULL THEN NULL
    ELSE COALESCE((SELECT MAX(time) FROM events WHERE events.run = runs.id), created) END FROM runs;
CREATE INDEX run_summaries_by_time ON run_summaries (created, run);
CREATE INDEX run_summaries_by_ending ON run_summaries (ending, created);
CREATE INDEX run_summaries_by_end ON run_summaries (ended);
CREATE INDEX submissions_by_run ON submissions (run);

-- Decisions of reviewers are events of the run.
CREATE INDEX events_decisions ON events (run, number) WHERE name = 'decision';
