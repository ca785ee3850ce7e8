export const sql = `
ALTER TABLE workers ADD COLUMN transcript_path TEXT;
`;
