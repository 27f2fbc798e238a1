-- Cases, findings and patches of cyber reasoning systems as JSON, under the keys that they
-- are found by.
CREATE TABLE crs_records (
    -- case, finding or patch.
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- The case that it belongs to; a case belongs to itself.
    crs_case TEXT NOT NULL,
    -- What is compared before the record is changed.
    tag TEXT NOT NULL,
    -- When nobody wants anything of the case any more.
    until BIGINT,
    body TEXT NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX crs_records_by_case ON crs_records (kind, crs_case, created);

INSERT INTO crs_records (kind, id, crs_case, tag, until, body, created)
SELECT 'case', id, id, state, deadline, CAST({json_object}(
    'id', id, 'project', project, 'detail', {json:detail:}, 'prepared', {json:prepared:}, 'state', state,
    'problem', problem, 'deadline', deadline, 'created', created) AS TEXT), created
FROM crs_cases;

INSERT INTO crs_records (kind, id, crs_case, tag, until, body, created)
SELECT 'finding', id, crs_case, now_in || ' ' || CAST(round AS TEXT), NULL, CAST({json_object}(
    'id', id, 'case', crs_case, 'kind', kind, 'request', {json:request:}, 'round', round, 'state', now_in,
    'patch', patch) AS TEXT), created
FROM (
    -- A patch stops it, whoever found the patch.
    SELECT crs_findings.*, CASE WHEN state IN ('patched', 'closed') THEN 'stopped' ELSE state END AS now_in
    FROM crs_findings
) AS findings;

INSERT INTO crs_records (kind, id, crs_case, tag, until, body, created)
SELECT 'patch', id, crs_case, '', NULL, CAST({json_object}(
    'id', id, 'case', crs_case, 'finding', finding, 'diff', diff, 'doubt', doubt, 'stops', {json:stops:},
    'tried', {json:tried:}, 'fate', fate, 'remote', remote, 'sent', sent, 'rests', rests, 'created', created
    ) AS TEXT), created
FROM crs_patches;

DROP TABLE crs_patches;
DROP TABLE crs_findings;
DROP TABLE crs_cases;
