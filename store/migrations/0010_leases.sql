-- One lease says who works on a task: its owner, its epoch (`claims`), and the
-- time until which it holds, in milliseconds of the database's clock. A task
-- that runs without one goes on with whoever claims it next.
ALTER TABLE submissions ADD COLUMN owner TEXT;
ALTER TABLE submissions ADD COLUMN lease_until BIGINT;
DROP INDEX submissions_to_issue;
ALTER TABLE submissions DROP COLUMN issued;
CREATE INDEX submissions_to_claim ON submissions (priority DESC, due, sequence)
    WHERE owner IS NULL AND ended IS NULL;

-- The tickets of before are in tables of another library.
{forget_tickets}
