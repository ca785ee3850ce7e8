import type { StoredEvent } from '../events/index.js';
import type { VerificationRow } from './rows.js';

export function foldVerification(row: VerificationRow | null, event: StoredEvent): VerificationRow | null {
  switch (event.type) {
    case 'verify.started':
      return {
        verify_id: event.data.verify_id,
        session_id: event.session_id,
        commit: event.data.commit,
        state: 'running',
        nothing_to_verify: false,
        commands: event.data.commands,
        results: [],
        reason: null,
        started_at: event.at,
        ended_at: null,
      };
    case 'verify.passed':
      return (
        row && {
          ...row,
          state: 'passed',
          results: event.data.results,
          nothing_to_verify: event.data.nothing_to_verify,
          ended_at: event.at,
        }
      );
    case 'verify.failed':
      return (
        row && {
          ...row,
          state: 'failed',
          results: event.data.results,
          reason: event.data.reason,
          ended_at: event.at,
        }
      );
    default:
      return row;
  }
}
