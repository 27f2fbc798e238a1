-- A ticket is noted in the transaction that puts it into the queue, and counts
-- until its task is handed back: by the number of times that it was. Tickets of
-- before count no more, so that tasks that are not over get new ones.
UPDATE submissions SET state = 'queued', issued = 0 WHERE state IN ('queued', 'running');
UPDATE submissions SET issued = 0 WHERE state = 'paused';
ALTER TABLE submissions DROP COLUMN ticket;
ALTER TABLE submissions DROP COLUMN grabbed;
