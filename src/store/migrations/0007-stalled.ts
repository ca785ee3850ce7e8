/** A run whose agent gives no sign, since when, and what it showed last. Frozen once released. */
export const sql = `
ALTER TABLE runs ADD COLUMN stalled_since TEXT;
ALTER TABLE runs ADD COLUMN stalled_line TEXT;
`;
