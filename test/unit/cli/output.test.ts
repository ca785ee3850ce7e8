import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/core/events/index.js';
import { renderAnswer } from '../../../src/doors/cli/output/answer.js';
import { eventLine } from '../../../src/doors/cli/output/event-line.js';
import { createPaint } from '../../../src/doors/cli/output/paint.js';
import { age, oneLine, plain, seconds } from '../../../src/doors/cli/output/plain.js';
import { renderReport } from '../../../src/doors/cli/output/report.js';
import { table } from '../../../src/doors/cli/output/table.js';
import { nearest } from '../../../src/core/nearest.js';
import { createHeartbeat } from '../../../src/doors/cli/watch/heartbeat.js';
import type { SessionReport, WorkerReport } from '../../../src/services/supervise/session-report.js';
import { SAMPLES } from '../../support/sample-events.js';
import { fakeTerminal } from './fake-host.js';

const ESC = '\u001B';
const noPaint = createPaint(fakeTerminal(), {}, 'stdout');

const worker = (id: string, state: string, more: Partial<WorkerReport> = {}): WorkerReport => ({
  ...{ worker_id: id, perspective: 'implementer', agent: 'one', state, summary: '', task: `task of ${id}` },
  ...{ branch: null, integrated: false, waiting: null },
  ...more,
});

const report = (more: Partial<SessionReport> = {}): SessionReport => ({
  ...{ session_id: '3f2a91bc', state: 'active', goal: 'a goal', summary: '', reason: null, project: '/p' },
  ...{
    base: 'base main@0000000',
    branch: null,
    commit: null,
    workers: [],
    attention: [],
    verify: null,
    last_progress: null,
  },
  ...{ merge_command: null, applied: null, created_at: '', ended_at: null },
  ...{ resumable: false, left_out: null, cleaned_at: null, disk: null, mode: 'goal' },
  ...more,
});

describe('colours', () => {
  const painted = (tty: boolean, env: Record<string, string>) =>
    createPaint(fakeTerminal({ tty }), env, 'stdout').good('x') !== 'x';
  it('are for terminals without NO_COLOR', () => {
    expect(painted(true, {})).toBe(true);
    expect(painted(true, { NO_COLOR: '' })).toBe(true);
    expect(painted(true, { NO_COLOR: '1' })).toBe(false);
    expect(painted(true, { TERM: 'dumb' })).toBe(false);
    expect(painted(false, {})).toBe(false);
  });
});

describe('text of agents', () => {
  it('reaches the terminal without escape sequences and control bytes', () => {
    expect(plain(`a${ESC}[31mb${ESC}]0;title\u0007\u0008\u009Bc\td\ne`)).not.toMatch(
      /[\0-\x08\x0b-\x1f\x7f-\x9f]/,
    );
    expect(oneLine(`a\n\n b${ESC}[2J`, 10)).toBe('a b');
    expect(oneLine('abcdef', 4)).toBe('abc…');
  });

  it('cannot do so through a report, an answer or an event either', () => {
    const evil = `x${ESC}[2J${ESC}]52;c;aGk=\u0007`;
    const shown = [
      renderReport(report({ summary: evil, workers: [worker('w01', 'done', { summary: evil })] }), {
        paint: noPaint,
        attachCommand: null,
        columns: null,
      }),
      renderAnswer({
        output: `${evil}\n${evil}`,
        list: [{ text: evil }],
        record: { text: evil },
        text: evil,
      }),
      createHeartbeat().line(report({ session_id: 'x' }), '2030-01-01T00:00:00Z') ?? '',
    ].join('');
    expect(shown).not.toContain(ESC);
  });
});

describe('words', () => {
  const now = Date.parse('2030-01-01T12:00:00Z');
  it.each([
    ['2030-01-01T11:59:30Z', 'just now'],
    ['2030-01-01T11:56:00Z', '4 min ago'],
    ['2030-01-01T09:00:00Z', '3 h ago'],
    ['2029-12-30T09:00:00Z', '2029-12-30'],
  ])('%s is %s', (at, words) => expect(age(at, now)).toBe(words));
  it('durations', () => expect([seconds(432), seconds(61_000)]).toEqual(['0.4 s', '1 min 1 s']));
  it('tables align, colours do not count', () => {
    const good = `${ESC}[32mgood${ESC}[39m`;
    expect(
      table([
        ['a', good, 'x'],
        ['bb', 'b', 'y'],
      ]),
    ).toBe(`a   ${good}  x\nbb  b     y`);
  });
  it.each([
    ['gaol', 'goal'],
    ['list-session', 'list-sessions'],
    ['agent', 'agents'],
    ['inter', 'interactive'],
    ['xyz', null],
  ])('nearest to %s is %s', (typed, meant) =>
    expect(nearest(typed, ['goal', 'agents', 'interactive', 'list-sessions', 'json'])).toBe(meant),
  );
});

describe('the log', () => {
  it.each(Object.entries(SAMPLES))('says %s in one line', (type, data) => {
    const at = '2030-01-01T00:00:00.000Z';
    const line = eventLine({
      type,
      data,
      seq: 1,
      v: 1,
      at,
      session_id: '3f2a91bc',
    } as unknown as StoredEvent);
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}.{4} {2}\S/);
    expect(line).not.toMatch(/\n|undefined|\[object/);
  });
});

describe('the heartbeat', () => {
  const at = '2030-01-01T00:00:00.000Z';
  const progress = (message: string): StoredEvent => ({
    ...{ type: 'progress.reported', session_id: '3f2a91bc', source: 'mcp', evidence: 'protocol' },
    ...{ data: { message }, seq: 1, v: 1, at },
  });

  it('[38] speaks only when the counts by state or the last words change', () => {
    const heartbeat = createHeartbeat();
    const line = (more: Partial<SessionReport>) =>
      heartbeat.line(report(more), at)?.slice('00:00:00 '.length) ?? null;
    expect(line({})).toBe('3f2a91bc  no workers yet');
    expect(line({})).toBeNull();
    const running = { workers: [worker('w01', 'running'), worker('w02', 'starting')] };
    expect(line(running)).toBe('3f2a91bc  1 starting, 1 running');
    expect(line({ workers: [worker('w01', 'starting'), worker('w02', 'running')] })).toBeNull();
    expect(heartbeat.hear(progress('half way'))).toBe(true);
    expect(line(running)).toBe('3f2a91bc  1 starting, 1 running  half way');
    expect(heartbeat.hear(progress('half way'))).toBe(true);
    expect(line(running)).toBeNull();
  });

  it('calls the person once for each thing that waits', () => {
    const heartbeat = createHeartbeat();
    const call = (...items: readonly [string, 'permission' | 'question', string][]) =>
      heartbeat
        .call(
          report({ attention: items.map(([worker_id, kind, since]) => ({ worker_id, kind, since })) }),
          at,
        )
        ?.slice('00:00:00 '.length) ?? null;
    expect(call()).toBeNull();
    expect(call(['w02', 'permission', '1'])).toBe(
      '1 waiting: w02 permission; to answer: agentorchestr attention 3f2a91bc',
    );
    expect(call(['w02', 'permission', '1'])).toBeNull();
    expect(call(['w02', 'permission', '2'], ['w03', 'question', '2'])).toContain(
      '2 waiting: w02 permission, w03',
    );
    expect(call(['w03', 'question', '2'])).toBeNull();
  });

  it('[38] cuts the words at 80 characters', () => {
    const heartbeat = createHeartbeat();
    heartbeat.hear(progress('x'.repeat(200)));
    expect(heartbeat.line(report(), at)).toMatch(/ {2}x{79}…$/);
  });

  it('does not look again for what is only machinery', () => {
    const event = {
      ...progress(''),
      type: 'message.typed',
      data: { message_id: 'm', bytes: 1 },
    } as StoredEvent;
    expect(createHeartbeat().hear(event)).toBe(false);
  });
});

describe('a report', () => {
  it('says of a verification that was stopped that it was, and nothing of a time limit', () => {
    const command = { command: 'npm test', exit_code: null, stopped: true, duration_ms: 3_600, tail: '\n' };
    const verify = { verify_id: 'v', commit: 'abcdef0123', reason: 'test: it was stopped: the session ends' };
    const said = (more: Partial<typeof command>) =>
      renderReport(
        report({ verify: { ...verify, state: 'interrupted', commands: [{ ...command, ...more }] } }),
        { paint: noPaint, attachCommand: null, columns: null },
      );
    expect(said({})).toContain(
      'verify   interrupted at abcdef0\n  test: it was stopped: the session ends\n  stopped  3.6 s  npm test\n\n',
    );
    expect(said({ stopped: false })).toContain('  time limit  3.6 s  npm test');
  });

  it('shows state, words, workers, proof, branch, merge and attach commands', () => {
    const verify: SessionReport['verify'] = {
      ...{ verify_id: 'v', state: 'failed', commit: 'abcdef0123', reason: 'npm test failed' },
      commands: [
        { command: 'npm ci', exit_code: 0, stopped: false, duration_ms: 2_000, tail: '' },
        { command: 'npm test', exit_code: 1, stopped: false, duration_ms: 61_000, tail: 'one\ntwo' },
      ],
    };
    const text = renderReport(
      report({
        ...{
          state: 'paused',
          reason: 'a reason',
          branch: 'agentorchestr/3f2a91bc/integration',
          merge_command: 'git merge x',
          verify,
        },
        workers: [
          worker('w01', 'done', { summary: 'wrote it', integrated: true }),
          worker('w02', 'waiting', { waiting: { kind: 'question', text: 'which one?' } }),
          worker('w03', 'running'),
        ],
      }),
      { paint: noPaint, attachCommand: 'agentorchestr attach 3f2a91bc', columns: null },
    );
    expect(text).toBe(`session 3f2a91bc  paused
  a reason

workers
  w01  implementer  one  done     integrated  wrote it
  w02  implementer  one  waiting              waits (question): which one?
  w03  implementer  one  running              task of w03

verify   failed at abcdef0
  npm test failed
  exit 0  2.0 s      npm ci
  exit 1  1 min 1 s  npm test
    one
    two

base    main@0000000
branch  agentorchestr/3f2a91bc/integration
merge   git merge x
panes   agentorchestr attach 3f2a91bc
`);
  });

  it('keeps what its workers say on one line each, down to a few words', () => {
    const workers = [worker('w01', 'running', { task: 'word '.repeat(40) })];
    const line = (columns: number | null) =>
      renderReport(report({ workers }), { paint: noPaint, attachCommand: null, columns })
        .split('\n')
        .find((one) => one.startsWith('  w01')) ?? '';
    expect([200, 80, 60].map((columns) => line(columns).length <= columns)).toEqual([true, true, true]);
    expect(line(null)).toBe(line(200));
    expect(line(20)).toMatch(/word word word …$/);
  });

  it('while it runs says what was last heard, or the goal', () => {
    const words = (more: Partial<SessionReport>) =>
      renderReport(report(more), { paint: noPaint, attachCommand: null, columns: null }).split('\n')[1];
    expect([words({}), words({ last_progress: 'half' })]).toEqual(['  goal: a goal', '  now: half']);
  });

  it('says of a goal that is done without a change that there is nothing to merge', () => {
    const text = (more: Partial<SessionReport>) =>
      renderReport(report({ state: 'done', branch: 'b', ...more }), {
        ...{ paint: noPaint, attachCommand: null, columns: null },
      });
    expect(text({})).toContain('merge   nothing: the result holds no change\n');
    expect(text({ applied: 'merged' })).not.toContain('nothing');
    expect(text({ state: 'paused' })).not.toContain('nothing');
  });

  it('names the work that the result does not hold', () => {
    const one = { worker_id: 'w01', branch: 'b', worktree: '/w/one', commits: 2, changed_files: 1 };
    const two = { worker_id: 'w02', branch: 'b', worktree: '/w/two', commits: 0, changed_files: 3 };
    const left_out = [
      { ...one, discarded: null },
      { ...two, discarded: 'not needed' },
    ];
    const text = renderReport(report({ left_out }), { paint: noPaint, attachCommand: null, columns: null });
    expect(text).toContain(
      [
        'not in the result (clean keeps it, too)',
        '  w01  2 commits, 1 changed file  /w/one',
        '  w02  3 changed files            /w/two  discarded: not needed',
      ].join('\n'),
    );
    expect(
      renderReport(report({ left_out: [] }), { paint: noPaint, attachCommand: null, columns: null }),
    ).not.toContain('not in');
  });
});
