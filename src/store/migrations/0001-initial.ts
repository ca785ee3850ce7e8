/** Frozen once released: a later change is a new file. Columns of folded tables are declared again in ../columns.ts. */
export const sql = `
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  type TEXT NOT NULL,
  session_id TEXT NOT NULL,
  worker_id TEXT,
  run_id TEXT,
  source TEXT NOT NULL,
  evidence TEXT NOT NULL,
  v INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session_id);

CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  goal TEXT NOT NULL,
  project TEXT NOT NULL,
  state TEXT NOT NULL,
  summary TEXT NOT NULL,
  reason TEXT,
  base_commit TEXT NOT NULL,
  base_statement TEXT NOT NULL,
  repository TEXT NOT NULL,
  subdirectory TEXT NOT NULL,
  lead_agent TEXT NOT NULL,
  worker_agents TEXT NOT NULL,
  options TEXT NOT NULL,
  verify_commands TEXT NOT NULL,
  setup_commands TEXT NOT NULL,
  tmux_socket TEXT,
  directory TEXT,
  integration_branch TEXT,
  integration_worktree TEXT,
  integration_commit TEXT,
  verdict TEXT,
  last_progress TEXT,
  applied TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;

CREATE TABLE workers (
  session_id TEXT NOT NULL REFERENCES sessions,
  worker_id TEXT NOT NULL,
  role TEXT NOT NULL,
  perspective TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  agent TEXT NOT NULL,
  backend TEXT NOT NULL,
  state TEXT NOT NULL,
  waiting_kind TEXT,
  waiting_text TEXT,
  task TEXT NOT NULL,
  file_scope TEXT NOT NULL,
  pass_criteria TEXT NOT NULL,
  branch TEXT,
  worktree TEXT NOT NULL,
  base_commit TEXT NOT NULL,
  attempt_id TEXT,
  pane_id TEXT,
  "window" TEXT,
  thread_id TEXT,
  last_run_id TEXT,
  integrated_commit TEXT,
  exit_status INTEGER,
  output_tail TEXT,
  retired INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id, worker_id)
) STRICT;

CREATE TABLE runs (
  session_id TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  run_id TEXT PRIMARY KEY NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  message_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  retry_of TEXT,
  attempts INTEGER NOT NULL,
  attempt_id TEXT,
  waiting_kind TEXT,
  waiting_text TEXT,
  reported TEXT NOT NULL,
  reports_returned INTEGER NOT NULL,
  nudges INTEGER NOT NULL,
  cancel_requested_at TEXT,
  summary TEXT NOT NULL,
  failure_code TEXT,
  evidence TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  ended_at TEXT,
  updated_at TEXT NOT NULL,
  FOREIGN KEY (session_id, worker_id) REFERENCES workers
) STRICT;
CREATE INDEX runs_by_worker ON runs (session_id, worker_id);
CREATE TRIGGER runs_are_final BEFORE UPDATE ON runs
WHEN OLD.state IN ('succeeded', 'blocked', 'failed', 'timed_out', 'cancelled', 'interrupted')
  AND NEW.state IS NOT OLD.state
BEGIN
  SELECT RAISE(ABORT, 'the state of an ended run is final');
END;

CREATE TABLE attempts (
  attempt_id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  pid INTEGER,
  pid_started_at TEXT,
  exit_status INTEGER,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  FOREIGN KEY (session_id, worker_id) REFERENCES workers
) STRICT;
CREATE INDEX attempts_by_worker ON attempts (session_id, worker_id);

CREATE TABLE messages (
  message_id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  run_id TEXT,
  kind TEXT NOT NULL,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  about TEXT,
  state TEXT NOT NULL,
  detail TEXT,
  evidence TEXT NOT NULL,
  accepted_seq INTEGER NOT NULL,
  accepted_at TEXT NOT NULL,
  queued_at TEXT,
  typed_at TEXT,
  submitted_at TEXT,
  started_at TEXT,
  answered_at TEXT,
  updated_at TEXT NOT NULL,
  FOREIGN KEY (session_id, worker_id) REFERENCES workers
) STRICT;
CREATE INDEX messages_by_worker ON messages (session_id, worker_id);

CREATE TABLE verifications (
  verify_id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions,
  "commit" TEXT NOT NULL,
  state TEXT NOT NULL,
  nothing_to_verify INTEGER NOT NULL,
  commands TEXT NOT NULL,
  results TEXT NOT NULL,
  reason TEXT,
  started_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;
CREATE INDEX verifications_by_session ON verifications (session_id);

CREATE TABLE leases (
  session_id TEXT PRIMARY KEY NOT NULL,
  pid INTEGER NOT NULL,
  pid_started_at TEXT NOT NULL,
  boot_id TEXT NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;
`;
