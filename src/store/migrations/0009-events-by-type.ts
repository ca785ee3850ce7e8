/** Few of the events of a conversation are of a kind that is looked for, such as who spawned whom. */
export const sql = `
CREATE INDEX events_by_type ON events (session_id, type);
`;
