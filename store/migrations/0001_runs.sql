-- Tasks, runs, their events, what was spent, and blobs by content hash.
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    created TEXT NOT NULL
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL REFERENCES tasks (id),
    epoch BIGINT NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    settings TEXT NOT NULL,
    ending TEXT,
    report TEXT
);
CREATE INDEX runs_by_task ON runs (task);

CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    number BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    time TEXT NOT NULL,
    lane BIGINT NOT NULL,
    step BIGINT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE spending (
    run TEXT NOT NULL,
    number BIGINT NOT NULL,
    day TEXT NOT NULL,
    reserved DOUBLE PRECISION NOT NULL,
    settled DOUBLE PRECISION,
    PRIMARY KEY (run, number)
);
CREATE INDEX spending_by_day ON spending (day);

CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    bytes {bytes} NOT NULL
);
