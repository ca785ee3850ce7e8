import type { StoredEvent } from '../events/index.js';
import type { SessionRow } from './rows.js';

export function foldSession(row: SessionRow | null, event: StoredEvent): SessionRow | null {
  if (event.type === 'session.created') return createSession(event);
  if (row === null) return null;
  const next = change(row, event);
  return next === null ? row : { ...row, ...next, updated_at: event.at };
}

function createSession(event: Extract<StoredEvent, { type: 'session.created' }>): SessionRow {
  return {
    session_id: event.session_id,
    ...event.data,
    state: 'active',
    summary: '',
    reason: null,
    tmux_socket: null,
    directory: null,
    integration_branch: null,
    integration_worktree: null,
    integration_commit: null,
    verdict: null,
    last_progress: null,
    applied: null,
    cleaned_at: null,
    created_at: event.at,
    updated_at: event.at,
    ended_at: null,
  };
}

function change(row: SessionRow, event: StoredEvent): Partial<SessionRow> | null {
  switch (event.type) {
    case 'session.updated':
      return {
        goal: event.data.title ?? row.goal,
        options:
          event.data.metadata === undefined ? row.options : { ...row.options, metadata: event.data.metadata },
        lead_agent: event.data.providers?.[0] ?? row.lead_agent,
        worker_agents: event.data.providers ?? row.worker_agents,
        tmux_socket: event.data.tmux_socket ?? row.tmux_socket,
        directory: event.data.directory ?? row.directory,
        integration_branch: event.data.integration_branch ?? row.integration_branch,
        integration_worktree: event.data.integration_worktree ?? row.integration_worktree,
      };
    case 'session.paused':
      return { state: 'paused', reason: event.data.reason };
    case 'session.resumed':
      return { state: 'active', reason: null, verdict: null, ended_at: null };
    case 'session.ended':
      return {
        state: event.data.state,
        summary: event.data.summary,
        reason: event.data.reason ?? null,
        applied: event.data.applied ?? null,
        ended_at: event.at,
      };
    case 'session.cleaned':
      return { cleaned_at: event.at };
    case 'result.applied':
      return { applied: event.data.how };
    case 'goal.done':
      return { verdict: 'done', summary: event.data.summary };
    case 'goal.failed':
      return { verdict: 'failed', summary: event.data.reason };
    case 'progress.reported':
      return { last_progress: event.data.message };
    case 'branch.integrated':
      return { integration_commit: event.data.integration_commit };
    default:
      return null;
  }
}
