import { describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { StoredEvent } from '../../../src/core/events/index.js';
import type { AttentionItem } from '../../../src/services/supervise/attention.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const item = (more: Partial<AttentionItem> = {}): AttentionItem => ({
  ...{
    worker_id: 'w02',
    kind: 'permission',
    text: 'Bash command\nrm -rf build',
    prompt_hash: 'aaaabbbbcccc',
  },
  choices: [
    { number: 1, label: 'Yes' },
    { number: 2, label: 'No' },
  ],
  ...{ since: '2030-01-01T11:56:00Z', via: 'hook' },
  ...more,
});
const question = item({
  worker_id: 'w03',
  kind: 'question',
  text: 'red or blue?',
  choices: [],
  prompt_hash: 'ddd',
});
const stuck = item({
  worker_id: 'lead',
  kind: 'stuck',
  text: 'it ended its turn',
  choices: [],
  prompt_hash: null,
});

async function run(
  args: readonly string[],
  options: {
    items?: AttentionItem[];
    tty?: boolean;
    answers?: string[];
    sessions?: string[];
    fails?: Error;
    events?: readonly StoredEvent[];
  } = {},
) {
  const { items = [item()], tty = false, answers = [], sessions = ['3f2a91bc'], fails } = options;
  const terminal = fakeTerminal({ tty, answers });
  const called: unknown[] = [];
  const host = fakeHost(terminal, {
    listSessions: () =>
      Promise.resolve(
        sessions.map((session_id) => ({
          ...{
            session_id,
            state: 'active',
            resumable: true,
            cleaned_at: null,
            salvaged: false,
            workers_total: 0,
            workers_done: 0,
            created_at: '',
          },
          ...{ updated_at: '', project: '/elsewhere', goal: 'x' },
        })),
      ),
    async *events() {
      for (const event of options.events ?? []) yield await Promise.resolve(event);
    },
    findSession: (prefix) => Promise.resolve(`${prefix}-whole`),
    call: (sessionId, { name }, input) => {
      called.push([sessionId, name, input]);
      if (name === 'answer_worker' && fails !== undefined) return Promise.reject(fails);
      return Promise.resolve(name === 'list_attention' ? { items } : { answered: true, worker_id: 'w02' });
    },
  });
  const code = await runProgram(host, args);
  return { code, called, ...terminal.said };
}

const ANSWERED = ['3f2a91bc', 'answer_worker', { worker_id: 'w02', prompt_hash: 'aaaabbbbcccc', choice: 1 }];

describe('agentorchestr attention', () => {
  it('shows each prompt with the exact command of each of its answers', async () => {
    const { code, out } = await run(['attention'], { items: [item(), question, stuck] });
    expect(code).toBe(0);
    expect(out).toBe(`w02  permission  4 min ago
  | Bash command
  | rm -rf build
  1. Yes  agentorchestr answer w02 --choice 1 --prompt-hash aaaabbbbcccc --session 3f2a91bc
  2. No   agentorchestr answer w02 --choice 2 --prompt-hash aaaabbbbcccc --session 3f2a91bc

w03  question  4 min ago
  | red or blue?
  agentorchestr answer w03 --text "…" --prompt-hash ddd --session 3f2a91bc

lead  stuck  4 min ago
  | it ended its turn
  tell the lead in its pane how to go on: agentorchestr attach 3f2a91bc
`);
  });

  it('says when nothing waits', async () => {
    expect(await run(['attention', '3f2a'], { items: [] })).toMatchObject({
      code: 0,
      out: 'nothing waits for you\n',
    });
  });

  it('with --watch asks again for what comes, not for each thing that was', async () => {
    const waiting = (at: string) => ({ type: 'worker.waiting', at }) as StoredEvent;
    const past = ['2030-01-01T10:00:00.000Z', '2030-01-01T11:00:00.000Z'].map(waiting);
    const { called } = await run(['attention', '--watch'], { events: past });
    expect(called).toHaveLength(1);
    const { called: later } = await run(['attention', '--watch'], {
      events: [...past, waiting('2030-01-01T12:00:01.000Z')],
    });
    expect(later).toHaveLength(2);
  });

  it('is one JSON object when asked for', async () => {
    const { out, code } = await run(['attention', '--json']);
    expect([code, JSON.parse(out)]).toEqual([0, { session_id: '3f2a91bc', items: [item()] }]);
  });

  it.each([['attention'], ['answer', 'w02', '--choice', '1', '--prompt-hash', 'x']])(
    '%s wants to know which of several sessions is meant',
    async (...args) => {
      const { code, err, called } = await run(args, { sessions: ['11111111', '22222222'] });
      expect([code, called]).toEqual([64, []]);
      expect(err).toContain('more than one session runs: 11111111, 22222222');
    },
  );
});

describe('agentorchestr answer', () => {
  it('answers the prompt that the hash names, without a question', async () => {
    const args = ['answer', 'w02', '--choice', '1', '--prompt-hash', 'aaaabbbbcccc', '--message', 'go on'];
    const { code, out, called } = await run(args);
    expect([code, out]).toEqual([0, 'w02 is answered\n']);
    expect(called).toEqual([
      [
        '3f2a91bc',
        'answer_worker',
        { worker_id: 'w02', prompt_hash: 'aaaabbbbcccc', choice: 1, message: 'go on' },
      ],
    ]);
  });

  it('takes a text for a question, and a session by name', async () => {
    const args = ['answer', 'w03', '--text', 'blue', '--prompt-hash', 'ddd', '--session', '3f2a', '--json'];
    const { out, called } = await run(args);
    expect(JSON.parse(out)).toMatchObject({ answered: true });
    expect(called).toEqual([
      ['3f2a-whole', 'answer_worker', { worker_id: 'w03', prompt_hash: 'ddd', text: 'blue' }],
    ]);
  });

  it('on a terminal shows what waits and answers exactly that once the person agrees', async () => {
    const { code, err, called } = await run(['answer', 'w02', '--choice', '1'], {
      tty: true,
      answers: ['y'],
    });
    expect(code).toBe(0);
    expect(err).toContain(
      'w02 waits (permission):\n  | Bash command\n  | rm -rf build\nAnswer 1. Yes? [y/N] ',
    );
    expect(called.at(-1)).toEqual(ANSWERED);
  });

  it.each([['n'], ['']])('answers nothing when the person says "%s"', async (reply) => {
    const { code, err, called } = await run(['answer', 'w02', '--choice', '1'], {
      tty: true,
      answers: [reply],
    });
    expect([code, called.length]).toEqual([1, 1]);
    expect(err).toContain('nothing was answered');
  });

  it('says so when nothing waits, or the choice is not there', async () => {
    const none = await run(['answer', 'w02', '--choice', '1'], { tty: true, items: [] });
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('w02 waits for no answer')]);
    const bad = await run(['answer', 'w02', '--choice', '7'], { tty: true });
    expect([bad.code, bad.err]).toEqual([
      64,
      expect.stringContaining('hint: it takes one of its choices: 1 Yes, 2 No'),
    ]);
  });

  it('gives the new prompt and its hash when it has changed meanwhile', async () => {
    const fails = new OrchestratorError('PROMPT_CHANGED', {
      ...{ worker: 'w02', text: 'rm -rf /', prompt_hash: 'eee', choices: ['1 Yes', '2 No'] },
    });
    const { code, err } = await run(['answer', 'w02', '--choice', '1', '--prompt-hash', 'x'], { fails });
    expect(code).toBe(1);
    expect(err).toContain('nothing was answered: rm -rf /');
    expect(err).toContain('hint: read it; its prompt hash is eee, its choices are: 1 Yes, 2 No');
  });
});
