/** Asked for with every line that an agent says, and few of the runs of a long conversation are not over. */
export const sql = `
CREATE INDEX runs_open ON runs (session_id, worker_id) WHERE state IN ('queued', 'running', 'waiting');
`;
