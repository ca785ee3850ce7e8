import { describe, expect, it } from 'vitest';
import { foldMessage } from '../../../src/core/state/fold-message.js';
import { foldVerification } from '../../../src/core/state/fold-verification.js';
import type { MessageRow, VerificationRow } from '../../../src/core/state/rows.js';
import { RUN, sampleEvent, SAMPLES, SESSION, WORKER } from '../../support/sample-events.js';
import { at, folded, foldAll, type Step } from './support.js';

describe('a receipt', () => {
  const accepted: MessageRow = {
    message_id: 'message-1',
    session_id: SESSION,
    worker_id: WORKER,
    run_id: RUN,
    kind: 'task',
    sender: 'lead',
    text: 'write it',
    about: null,
    state: 'accepted',
    detail: null,
    evidence: 'protocol',
    accepted_seq: 1,
    accepted_at: at(0),
    queued_at: null,
    typed_at: null,
    submitted_at: null,
    started_at: null,
    answered_at: null,
    updated_at: at(0),
  };

  it('begins accepted, with its number in the log', () => {
    expect(foldAll(foldMessage, ['message.accepted'])).toEqual(accepted);
  });

  it.each<[string, Step[], Partial<MessageRow>]>([
    ['queued', ['message.queued'], { state: 'queued', queued_at: at(1) }],
    ['held, and why', ['message.held'], { state: 'held', detail: 'human_draft' }],
    ['typed, no longer held', ['message.held', 'message.typed'], { state: 'typed', typed_at: at(2) }],
    [
      'queued again, no longer held',
      ['message.held', 'message.queued'],
      { state: 'queued', queued_at: at(2) },
    ],
    [
      'submitted, and what proved it',
      ['message.submitted'],
      { state: 'submitted', detail: 'hook', submitted_at: at(1) },
    ],
    ['started', ['message.started'], { state: 'started', started_at: at(1) }],
    ['answered', ['message.answered'], { state: 'answered', answered_at: at(1) }],
    ['unconfirmed, with the screen', ['message.unconfirmed'], { state: 'unconfirmed', detail: '> write it' }],
    ['refused, and why', ['message.refused'], { state: 'refused', detail: 'the worker has ended' }],
  ])('is %s', (_what, steps, change) => {
    expect(foldAll(foldMessage, ['message.accepted', ...steps])).toEqual({
      ...accepted,
      updated_at: at(steps.length),
      ...change,
    });
  });

  it('carries the evidence of its last step, and every time on the way', () => {
    const steps = [
      'message.queued',
      'message.typed',
      sampleEvent('message.submitted', {}, { evidence: 'screen' }),
      'message.started',
      sampleEvent('message.answered', {}, { evidence: 'transcript' }),
    ] as const;
    expect(foldAll(foldMessage, ['message.accepted', ...steps])).toEqual({
      ...accepted,
      state: 'answered',
      detail: 'hook',
      evidence: 'transcript',
      queued_at: at(1),
      typed_at: at(2),
      submitted_at: at(3),
      started_at: at(4),
      answered_at: at(5),
      updated_at: at(5),
    });
  });

  it('does not exist before it is accepted, and is left by what is not about it', () => {
    expect(foldAll(foldMessage, ['message.typed'])).toBe(null);
    const row = folded(foldMessage, ['message.accepted']);
    expect(foldAll(foldMessage, ['run.started', 'question.answered'], row)).toBe(row);
  });
});

describe('a verification', () => {
  const started: VerificationRow = {
    verify_id: 'v1',
    session_id: SESSION,
    commit: 'c3',
    state: 'running',
    nothing_to_verify: false,
    commands: ['npm test'],
    results: [],
    reason: null,
    started_at: at(0),
    ended_at: null,
  };
  const { results } = SAMPLES['verify.passed'];

  it.each<[string, Step[], Partial<VerificationRow>]>([
    ['runs', [], {}],
    ['passes', ['verify.passed'], { state: 'passed', results, ended_at: at(1) }],
    [
      'passes where there is nothing to verify, and says so',
      [sampleEvent('verify.passed', { results: [], nothing_to_verify: true })],
      { state: 'passed', nothing_to_verify: true, ended_at: at(1) },
    ],
    [
      'fails, and why',
      [sampleEvent('verify.failed', { results })],
      { state: 'failed', results, reason: 'exit 1', ended_at: at(1) },
    ],
    ['is not touched by an integration', ['branch.integrated'], {}],
  ])('%s', (_what, steps, change) => {
    expect(foldAll(foldVerification, ['verify.started', ...steps])).toEqual({ ...started, ...change });
  });

  it('does not exist before it is started', () => {
    expect(foldAll(foldVerification, ['verify.passed', 'verify.failed', 'goal.done'])).toBe(null);
  });
});
