-- Who may call the daemon. Only the hash of a token is kept.
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT,
    revoked TEXT
);

-- Files that came with tasks, by the hash of their content and in pieces. A
-- file counts when its row is there; pieces without one are remains.
CREATE TABLE files (
    hash TEXT PRIMARY KEY,
    pieces BIGINT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE file_pieces (
    hash TEXT NOT NULL,
    number BIGINT NOT NULL,
    bytes {bytes} NOT NULL,
    PRIMARY KEY (hash, number)
);
