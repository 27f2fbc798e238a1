-- What cyber reasoning systems sent: challenges, what was found in them, our
-- patches, and what became of these on the other side.

-- Messages that were taken; one that is sent again changes nothing.
CREATE TABLE crs_messages (
    id TEXT PRIMARY KEY,
    received TEXT NOT NULL
);

-- A challenge of the competition, or a project that the settings know.
CREATE TABLE crs_cases (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    -- The challenge as it was sent; nothing for a project of the settings.
    detail TEXT,
    -- The files of the challenge by name, and what else was read from them, as
    -- JSON; nothing while they are on the way.
    prepared TEXT,
    state TEXT NOT NULL,
    problem TEXT,
    deadline BIGINT,
    created BIGINT NOT NULL
);
CREATE INDEX crs_cases_by_project ON crs_cases (project, created);

-- A PoV or a report: one task of the queue, and another one when its patch was
-- refused on the other side.
CREATE TABLE crs_findings (
    id TEXT PRIMARY KEY,
    crs_case TEXT NOT NULL REFERENCES crs_cases (id),
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    -- Counts how often it was queued anew.
    round BIGINT NOT NULL DEFAULT 0,
    -- What came of it: open, patched, closed, failed or errored.
    state TEXT NOT NULL DEFAULT 'open',
    -- The patch that stops it.
    patch TEXT,
    created BIGINT NOT NULL
);
CREATE INDEX crs_findings_by_case ON crs_findings (crs_case, created);

CREATE TABLE crs_patches (
    id TEXT PRIMARY KEY,
    crs_case TEXT NOT NULL REFERENCES crs_cases (id),
    finding TEXT NOT NULL,
    -- The unified diff in base64.
    diff TEXT NOT NULL,
    doubt BIGINT NOT NULL,
    -- The findings that it stops and those it was tried on, as JSON lists.
    stops TEXT NOT NULL,
    tried TEXT NOT NULL,
    -- What became of it on the other side: nothing while it was not sent,
    -- sending, or a status of the protocol.
    fate TEXT,
    remote TEXT,
    sent BIGINT NOT NULL DEFAULT 0,
    -- Before this time it is not sent again.
    rests BIGINT NOT NULL DEFAULT 0,
    created BIGINT NOT NULL
);
CREATE INDEX crs_patches_by_case ON crs_patches (crs_case, created);
