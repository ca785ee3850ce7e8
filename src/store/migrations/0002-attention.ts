/** What a waiting worker shows, so that it can be answered from elsewhere. Frozen once released. */
export const sql = `
ALTER TABLE workers ADD COLUMN waiting_choices TEXT;
ALTER TABLE workers ADD COLUMN waiting_hash TEXT;
ALTER TABLE workers ADD COLUMN waiting_via TEXT;
ALTER TABLE workers ADD COLUMN waiting_since TEXT;
`;
