/** Who does a run: our own pool, or somebody outside who says what becomes of it. Frozen once released. */
export const sql = `
ALTER TABLE runs ADD COLUMN executor TEXT NOT NULL DEFAULT 'pool';
`;
