import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Said } from '../../../src/backends/contract.js';
import { STREAM_FORMATS } from '../../../src/agents/contract.js';
import { compiledRoot } from '../../support/compiled.js';
import { HeadlessRig, launch, type Ended } from './headless-rig.js';
import { TOKEN } from './outside.js';

let rig: HeadlessRig;
beforeAll(() => compiledRoot(), 180_000);
beforeEach(() => {
  rig = new HeadlessRig();
});
afterEach(() => rig.close());

const threadOf = ({ said }: Ended) => said.flatMap((one) => (one.said === 'thread' ? [one.threadId] : []))[0];
const kinds = ({ said }: Ended) => said.map((one) => one.said);
const lastWord = ({ said }: Ended) => said.at(-1);
const only = <Name extends Said['said']>({ said }: Ended, name: Name) =>
  said.filter((one): one is Extract<Said, { said: Name }> => one.said === name);

const WORK = `
workers:
  - contains: please work
    steps:
      - think: 0
        about: First the tool, then the file.
      - call: echo
        with: { msg: hi }
      - write: notes/a.txt
        content: "made without a terminal\\n"
      - run: cat notes/a.txt
      - say: All of it is done.
`;

describe.each(STREAM_FORMATS)('a turn without a terminal, in %s', (format) => {
  it('says that it took the prompt, what it thinks, does and says, what it cost, and that it ended', async () => {
    rig.script(WORK);
    rig.outside.tools = { echo: (input) => ({ echoed: input['msg'] }) };
    const ended = await rig.turn('please work', { format });
    expect(ended).toMatchObject({ status: 0, stderr: '' });
    expect(only(ended, 'reasoning').at(-1)).toEqual({
      said: 'reasoning',
      text: 'First the tool, then the file.',
      delta: false,
    });
    const [called] = only(ended, 'tool_called');
    expect(called).toMatchObject({ tool: expect.stringMatching(/echo$/) as string, input: { msg: 'hi' } });
    expect(only(ended, 'tool_returned')[0]).toEqual({
      said: 'tool_returned',
      callId: called?.callId,
      isError: false,
      output: '{"echoed":"hi"}',
    });
    expect(only(ended, 'tool_called').map((one) => one.callId)).toEqual(
      only(ended, 'tool_returned').map((one) => one.callId),
    );
    expect(only(ended, 'tool_returned').at(-1)?.output).toBe('made without a terminal');
    expect(only(ended, 'usage')[0]?.inputTokens).toBeGreaterThan(0);
    expect(lastWord(ended)).toEqual({ said: 'turn_ended', text: 'All of it is done.' });
    expect(kinds(ended).slice(0, 2)).toEqual(['thread', 'prompt_taken']);
    expect(rig.outside.calls).toEqual([{ name: 'echo', input: { msg: 'hi' } }]);
    expect(readFileSync(join(rig.work, 'notes/a.txt'), 'utf8')).toBe('made without a terminal\n');
  });

  it('[42] takes the prompt byte for byte, however long it is', async () => {
    rig.script('workers: [{ steps: [{ say: "{{prompt}}" }] }]');
    const prompt = `-a "b" $(c) \`d\`\n\ttab 漢字 👩‍👩‍👧\u0000\r\n${'x'.repeat(300_000)}\n`;
    expect(lastWord(await rig.turn(prompt, { format }))).toEqual({ said: 'turn_ended', text: prompt });
  });

  it('fails the turn with status 1 and says why', async () => {
    rig.script('workers: [{ steps: [{ say: before }, { fail: it rained }] }]');
    const ended = await rig.turn('go', { format });
    expect(ended.status).toBe(1);
    expect(lastWord(ended)).toEqual({ said: 'turn_failed', text: 'it rained', kind: null });
  });

  it('says what only a person can mend', async () => {
    rig.script('workers: [{ steps: [{ fail: Not logged in · Please run /login }] }]');
    expect(lastWord(await rig.turn('go', { format }))).toMatchObject({ said: 'turn_failed', kind: 'login' });
  });

  it('goes on with a conversation in another process, with all that it remembers', async () => {
    rig.script(`
workers:
  - { name: first, match: 'I am (?<who>\\w+)', steps: [{ say: Hello. }] }
  - { after: first, steps: [{ say: 'You are {{who}}.' }] }
`);
    const first = await rig.turn('I am Bob', { format });
    const id = threadOf(first) ?? '';
    const second = await rig.turn('Who am I?', { format, resume: id });
    expect(threadOf(second)).toBe(id);
    expect(lastWord(second)).toEqual({ said: 'turn_ended', text: 'You are Bob.' });
  });

  it('remembers what it did before a turn failed', async () => {
    rig.script(`
workers:
  - { times: 1, steps: [{ fail: overloaded }] }
  - { steps: [{ say: the second time }] }
`);
    const first = await rig.turn('go', { format });
    expect(first.status).toBe(1);
    expect(lastWord(await rig.turn('go', { format, resume: threadOf(first) ?? '' }))).toEqual({
      said: 'turn_ended',
      text: 'the second time',
    });
  });

  it.each(['11111111-1111-4111-8111-111111111111', '../../etc/passwd'])(
    'refuses a conversation that is not there (%s) in words that its adapter knows',
    async (resume) => {
      rig.script('workers: [{ steps: [{ say: hello }] }]');
      const ended = await rig.turn('go', { format, resume });
      expect(ended.status).toBe(1);
      expect(ended.stderr).toMatch(launch.resumeErrors?.unknown ?? /^$/);
      expect(ended.stderr).not.toMatch(launch.resumeErrors?.inUse ?? /^/);
      expect(kinds(ended)).not.toContain('prompt_taken');
    },
  );

  it('refuses a conversation that a live process is at, and goes on with it when that was killed', async () => {
    rig.script(`
workers:
  - { contains: wait, steps: [{ say: waiting }, { sleep_until_interrupt: true }] }
  - { steps: [{ say: mine now }] }
`);
    const first = await rig.begin('wait', { format });
    const thread = await first.until((one) => one.said === 'thread');
    const resume = thread.said === 'thread' ? thread.threadId : '';
    await first.until((one) => one.said === 'text');
    const second = await rig.turn('me too', { format, resume });
    expect(second.status).toBe(1);
    expect(second.stderr).toMatch(launch.resumeErrors?.inUse ?? /^$/);
    expect(second.stderr).not.toMatch(launch.resumeErrors?.unknown ?? /^/);
    first.child.kill('SIGKILL');
    expect((await first.end).signal).toBe('SIGKILL');
    expect(lastWord(await rig.turn('me now', { format, resume }))).toEqual({
      said: 'turn_ended',
      text: 'mine now',
    });
  });

  it.each([
    ['crash: 7', 7, null],
    ['crash: SIGKILL', null, 'SIGKILL'],
    ['exit: 5', 5, null],
  ])('ends without a terminal word on %s', async (step, status, signal) => {
    rig.script(`workers: [{ steps: [{ say: still here }, { ${step} }] }]`);
    const ended = await rig.turn('go', { format });
    expect(ended).toMatchObject({ status, signal });
    expect(kinds(ended)).toContain('text');
    expect(kinds(ended).filter((kind) => kind.startsWith('turn_'))).toEqual([]);
  });

  it('leaves on an interrupt without a terminal word, silent as it may be', async () => {
    rig.script('workers: [{ steps: [{ say: here }, { silence: true }] }]');
    const running = await rig.begin('go', { format });
    await running.until((one) => one.said === 'text');
    running.child.kill('SIGINT');
    const ended = await running.end;
    expect(ended.status).toBe(130);
    expect(kinds(ended).filter((kind) => kind.startsWith('turn_'))).toEqual([]);
  });

  it('ignores signals where the script says so', async () => {
    rig.script(
      'workers: [{ steps: [{ ignore_signals: true }, { say: deaf }, { call: hold }, { say: still here }] }]',
    );
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    rig.outside.tools = { hold: () => held.then(() => ({})) };
    const running = await rig.begin('go', { format });
    await running.until((one) => one.said === 'tool_called');
    running.child.kill('SIGINT');
    running.child.kill('SIGTERM');
    release();
    const ended = await running.end;
    expect(ended.status).toBe(0);
    expect(lastWord(ended)).toEqual({ said: 'turn_ended', text: 'still here' });
  });

  it('wants a prompt', async () => {
    rig.script('workers: [{ steps: [{ say: hello }] }]');
    const ended = await rig.turn(' \n', { format });
    expect(ended).toMatchObject({ status: 1, lines: [] });
    expect(ended.stderr).toContain('no prompt on standard input');
  });

  it('never shows its token', async () => {
    rig.script(WORK);
    rig.outside.tools = { echo: () => ({}) };
    const ended = await rig.turn('please work', { format });
    const files = readdirSync(rig.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    expect([JSON.stringify(ended.lines), ended.stderr, ...files].join('')).not.toContain(TOKEN);
  });
});

describe('hooks and permissions without a terminal', () => {
  const ASKING = `
workers:
  - steps:
      - { permission: date > p.txt, save: answer, go_on: true }
      - say: 'The answer was {{answer}}.'
`;

  it('stream-json: tells the same moments to the hook address as in a terminal', async () => {
    rig.script('workers: [{ steps: [{ say: hello }] }]');
    await rig.turn('go');
    expect(rig.outside.hookNames()).toEqual(['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd']);
  });

  it('stream-json: goes on for one more turn in the same process when the Stop hook says so', async () => {
    rig.script(`
workers:
  - { contains: report now, steps: [{ report_done: finished }, { say: reported }] }
  - { steps: [{ say: working on it }] }
`);
    rig.outside.tools = { report_done: () => ({ accepted: true }) };
    rig.outside.answerHook = (body) =>
      body.hook_event_name === 'Stop' && body['stop_hook_active'] === false
        ? { decision: 'block', reason: 'report now' }
        : {};
    const ended = await rig.turn('do it');
    expect(rig.outside.hookNames()).toEqual([
      ...['SessionStart', 'UserPromptSubmit', 'Stop', 'Stop', 'SessionEnd'],
    ]);
    expect(only(ended, 'turn_ended')).toEqual([{ said: 'turn_ended', text: 'reported' }]);
  });

  it('stream-json: tells of a failed turn by StopFailure', async () => {
    rig.script('workers: [{ steps: [{ fail: it rained }] }]');
    await rig.turn('go');
    expect(rig.outside.hookNames()).toEqual([
      ...['SessionStart', 'UserPromptSubmit', 'StopFailure', 'SessionEnd'],
    ]);
  });

  it.each([
    ['yes', { permission: 'allow' }],
    ['no', { permission: 'deny', message: 'not today' }],
  ])(
    'stream-json: asks through the hook and takes %s, which is no refusal of its own gate',
    async (word, answer) => {
      rig.script(ASKING);
      rig.outside.answerHook = (body) => (body.hook_event_name === 'PermissionRequest' ? answer : {});
      const ended = await rig.turn('go');
      expect(lastWord(ended)).toEqual({ said: 'turn_ended', text: `The answer was ${word}.` });
      expect(only(ended, 'denied')).toEqual([]);
      const asked = rig.outside.hooks.find((body) => body.hook_event_name === 'PermissionRequest');
      expect(asked).toMatchObject({ tool_name: 'Bash', message: 'date > p.txt' });
    },
  );

  it('stream-json: is refused where nobody answers, and says so once', async () => {
    rig.script(ASKING);
    const ended = await rig.turn('go');
    expect(lastWord(ended)).toEqual({ said: 'turn_ended', text: 'The answer was no.' });
    expect(only(ended, 'denied')).toMatchObject([{ tool: 'Bash' }]);
  });

  it('thread-jsonl: tells no hooks, asks nobody, and says that it was refused', async () => {
    rig.script(ASKING);
    rig.outside.answerHook = () => ({ permission: 'allow' });
    const ended = await rig.turn('go', { format: 'thread-jsonl' });
    expect(rig.outside.hooks).toEqual([]);
    expect(only(ended, 'denied')).toHaveLength(1);
    expect(lastWord(ended)).toEqual({ said: 'turn_ended', text: 'The answer was no.' });
  });

  it('stream-json: says a text in pieces first, thread-jsonl only whole', async () => {
    rig.script('workers: [{ steps: [{ say: Hello there. }] }]');
    const texts = async (format: 'stream-json' | 'thread-jsonl') =>
      only(await rig.turn('go', { format }), 'text').map(({ text, delta }) => ({ text, delta }));
    expect(await texts('stream-json')).toEqual([
      { text: 'Hello ', delta: true },
      { text: 'there.', delta: true },
      { text: 'Hello there.', delta: false },
    ]);
    expect(await texts('thread-jsonl')).toEqual([{ text: 'Hello there.', delta: false }]);
  });
});
