import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { TOKEN } from './outside.js';
import { Rig } from './rig.js';

let rig: Rig;
beforeAll(() => compiledRoot(), 180_000);
beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.close());

describe('a turn of the scripted agent', () => {
  it('plays the rule that fits, tells each moment to the hook address, and is idle again', async () => {
    await rig.start(`
workers:
  - contains: nothing like this
    steps: [{ fail: wrong rule }]
  - match: 'greet (?<who>\\w+)'
    steps:
      - say: Hello {{who}}
`);
    await rig.untilState('idle');
    await rig.submit('please greet Bob');
    await rig.untilHook('Stop');
    await rig.untilState('idle');
    const common = {
      session_id: rig.threadIds()[0],
      cwd: rig.work,
      transcript_path: expect.stringMatching(/\.jsonl$/) as string,
    };
    expect(rig.outside.hooks).toEqual([
      { hook_event_name: 'SessionStart', source: 'startup', ...common },
      { hook_event_name: 'UserPromptSubmit', prompt: 'please greet Bob', ...common },
      { hook_event_name: 'Stop', last_assistant_message: 'Hello Bob', stop_hook_active: false, ...common },
    ]);
    expect(await rig.text()).toMatch(/^> please greet Bob\n\n● Hello Bob$/m);
  });

  it('[42] takes a pasted prompt byte for byte, as one submission', async () => {
    const prompt = [
      '-first line starts with a dash; $(touch X) `touch X` "quotes" \'too\' \\',
      '',
      '\ttab, wide 漢字, emoji 👩‍👩‍👧, combining e\u0301, trailing blanks   ',
      ...Array.from({ length: 40 }, (_, index) => `line ${index} with #{pane_id} and Enter C-c;`),
      'trailing blanks and an empty line  ',
      '',
    ].join('\n');
    await rig.start('workers: [{ steps: [{ say: taken }] }]');
    await rig.untilState('idle');
    await rig.submit(prompt);
    await rig.untilHook('Stop');
    expect(
      rig.outside.hooks
        .filter((body) => body.hook_event_name === 'UserPromptSubmit')
        .map((body) => body['prompt']),
    ).toEqual([prompt]);
    expect(await rig.text()).toContain('> [Pasted text #1 +44 lines]');
  });

  it('goes on for one more turn when the Stop hook says so', async () => {
    rig.outside.answerHook = (body) =>
      body.hook_event_name === 'Stop' && body['stop_hook_active'] === false
        ? { decision: 'block', reason: 'report now' }
        : {};
    rig.outside.tools = { report_done: () => ({ accepted: true }) };
    await rig.start(`
workers:
  - contains: report now
    steps: [{ report_done: finished }]
  - steps: [{ say: working on it }]
`);
    await rig.untilState('idle');
    await rig.submit('do it');
    await rig.untilHook('Stop', 2);
    await rig.untilState('idle');
    expect(rig.outside.hookNames()).toEqual(['SessionStart', 'UserPromptSubmit', 'Stop', 'Stop']);
    expect(rig.outside.calls).toEqual([{ name: 'report_done', input: { summary: 'finished' } }]);
  });

  it('says so when no rule fits, and ends its turn', async () => {
    await rig.start('workers: [{ contains: something, steps: [{ end: true }] }]');
    await rig.untilState('idle');
    await rig.submit('anything');
    await rig.untilHook('Stop');
    expect(await rig.text()).toContain('● No rule of my script fits this prompt');
  });

  it('fails the turn, not the agent, when an expectation is not met', async () => {
    rig.outside.tools = { list_workers: () => ({ workers: [] }) };
    await rig.start(`
workers:
  - contains: list
    steps:
      - call: list_workers
        expect: { 'workers.0.state': done }
      - say: never said
  - steps: [{ say: fine }]
`);
    await rig.untilState('idle');
    await rig.submit('list');
    await rig.untilState('error');
    expect(rig.outside.hooks.at(-1)).toMatchObject({
      hook_event_name: 'StopFailure',
      message: 'list_workers: workers.0.state is absent, wanted done',
    });
    await rig.submit('go on');
    await rig.untilHook('Stop');
    expect(await rig.text()).toMatch(/● fine/);
    expect(await rig.text()).not.toMatch(/never said/);
  });

  it('plays what the script has for failures, and ends its turn as usual then', async () => {
    await rig.start(`
workers:
  - steps: [{ run: exit 4 }, { say: never said }]
    on_failure: [{ say: 'so it is: {{failure}}' }]
`);
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilHook('Stop');
    expect(rig.outside.hooks.at(-1)?.['last_assistant_message']).toBe('so it is: exit 4 failed (exit 4): ');
    expect(await rig.text()).not.toMatch(/never said/);
  });

  it('works in its folder: writes, edits, runs, commits, and never outside of it', async () => {
    await rig.start(`
workers:
  - contains: work
    steps:
      - run: git init -q && git config core.hooksPath /dev/null
      - write: src/a.txt
        content: "one\\n"
      - append: src/a.txt
        content: "two\\n"
      - replace: src/a.txt
        from: one
        to: "1 {{role}}"
      - commit: add a
        paths: [src]
      - run: [git, log, --format=%s]
        save: log
      - run: exit 3
        allow_fail: true
        save: failed
      - say: "{{log.stdout}} {{failed.exit_code}}"
  - contains: escape
    steps:
      - write: ../outside.txt
        content: x
`);
    await rig.untilState('idle');
    await rig.submit('work');
    await rig.untilHook('Stop');
    expect(rig.outside.hooks.at(-1)?.['last_assistant_message']).toBe('add a 3');
    expect(readFileSync(join(rig.work, 'src/a.txt'), 'utf8')).toBe('1 worker\ntwo\n');
    await rig.submit('escape');
    await rig.untilHook('StopFailure');
    expect(rig.outside.hooks.at(-1)?.['message']).toBe('../outside.txt is outside of the working directory');
  });

  it('[46] [47] writes the flag file and prints the sentinel that the prompt describes', async () => {
    await rig.start(`
workers:
  - steps:
      - flag: done
        summary: "by flag"
      - sentinel: done
        summary: by sentinel
      - say: 'not one: WORKER_DONE[n0nce]: quoted'
`);
    await rig.untilState('idle');
    const flag = join(rig.directory, 'done.flag');
    await rig.submit(`write to ${flag} (write a temporary file), or print WORKER_DONE[n0nce] and a colon`);
    await rig.untilHook('Stop');
    expect(readFileSync(flag, 'utf8')).toBe('done\nby flag\n');
    expect((await rig.text()).split('\n').filter((line) => line.startsWith('WORKER_'))).toEqual([
      'WORKER_DONE[n0nce]: by sentinel',
    ]);
  });

  it('posts nothing with hooks off, and does not mind a hook address that is not there', async () => {
    await rig.start('{ settings: { hooks: false }, workers: [{ steps: [{ say: quiet }] }] }');
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilText(/● quiet/);
    await rig.untilState('idle');
    expect(rig.outside.hooks).toEqual([]);
  });

  it('does its work while the hook address is away', async () => {
    await rig.start('workers: [{ steps: [{ say: alone }] }]');
    await rig.untilHook('SessionStart');
    await rig.outside.close();
    await rig.submit('go');
    await rig.untilText(/● alone/);
    await rig.untilState('idle');
  });

  it('never shows its token: not in argv, not on the screen, not in its files', async () => {
    await rig.start('workers: [{ steps: [{ say: hello }] }]');
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilHook('Stop');
    const kept = readFileSync(join(rig.directory, 'conversations', `${rig.threadIds()[0]}.json`), 'utf8');
    expect(
      [readFileSync(`/proc/${rig.agentPid()}/cmdline`, 'utf8'), await rig.text(), kept].join(),
    ).not.toContain(TOKEN);
    expect(rig.outside.unauthorised).toEqual([]);
  });
});
