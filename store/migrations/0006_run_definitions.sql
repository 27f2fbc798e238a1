-- The task as JSON belongs to the run: another run of a changed task under the
-- same id leaves it as it was.
ALTER TABLE runs ADD COLUMN definition TEXT NOT NULL DEFAULT '';
UPDATE runs SET definition = (SELECT tasks.task FROM tasks WHERE tasks.id = runs.task);
ALTER TABLE tasks DROP COLUMN task;
