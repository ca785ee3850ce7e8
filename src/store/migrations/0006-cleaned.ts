/** When what a session left was removed. Frozen once released. */
export const sql = `
ALTER TABLE sessions ADD COLUMN cleaned_at TEXT;
`;
