/** Who asked for a run, and what it may take. Frozen once released. */
export const sql = `
ALTER TABLE runs ADD COLUMN parent_run_id TEXT;
ALTER TABLE runs ADD COLUMN timeout_ms INTEGER;
ALTER TABLE runs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;
`;
