-- Events are counted with their run, so that the number of the next one, the
-- check of the epoch and the lock are one statement.
ALTER TABLE runs ADD COLUMN events BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET events = COALESCE((SELECT MAX(number) FROM events WHERE events.run = runs.id), 0);

-- What the daemon was handed. The newest have the highest sequence.
CREATE TABLE submissions (
    sequence {sequence},
    id TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    priority BIGINT NOT NULL,
    deadline TEXT,
    origin TEXT NOT NULL,
    project TEXT,
    state TEXT NOT NULL DEFAULT 'queued',
    created TEXT NOT NULL,
    started TEXT,
    ended TEXT,
    run TEXT,
    ending TEXT,
    detail TEXT,
    claims BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    host TEXT,
    -- The host that alone can work on it: its files lie there.
    place TEXT,
    -- The number of the ticket that counts; whether it is in the queue: 0 no,
    -- 2 somebody began to put it there at the time of `grabbed`, 1 yes.
    ticket BIGINT NOT NULL DEFAULT 1,
    issued BIGINT NOT NULL DEFAULT 0,
    grabbed TEXT,
    due TEXT NOT NULL,
    cancel BIGINT NOT NULL DEFAULT 0,
    task TEXT NOT NULL
);
CREATE INDEX submissions_by_state ON submissions (state, sequence);
CREATE INDEX submissions_by_project ON submissions (project, sequence);
CREATE INDEX submissions_to_issue ON submissions (due) WHERE state = 'queued' AND issued <> 1;

-- What holds for the whole queue: whether it is paused.
CREATE TABLE switches (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
