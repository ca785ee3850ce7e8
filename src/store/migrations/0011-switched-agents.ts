/** Who did a run, and the conversations of agents that a worker had before. Frozen once released. */
export const sql = `
ALTER TABLE runs ADD COLUMN agent TEXT;
ALTER TABLE workers ADD COLUMN other_threads TEXT NOT NULL DEFAULT '{}';
`;
