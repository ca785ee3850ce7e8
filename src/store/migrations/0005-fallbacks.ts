/** Who stands in for a run's worker. Frozen once released. */
export const sql = `
ALTER TABLE runs ADD COLUMN fallbacks TEXT NOT NULL DEFAULT '[]';
`;
