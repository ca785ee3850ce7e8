import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { Rig } from './rig.js';

let rig: Rig;
beforeAll(() => compiledRoot(), 180_000);
beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.close());

describe('the life of the scripted agent', () => {
  it('goes on with its conversation when resumed by id: values, used rules, transcript', async () => {
    rig.outside.tools = { spawn_worker: () => ({ worker_id: 'w01' }) };
    const script = `
lead:
  - name: start
    times: 1
    steps:
      - call: spawn_worker
        with: { task: 'build it' }
        save: worker
      - say: spawned {{worker.worker_id}}
  - after: start
    steps:
      - say: it is still {{worker.worker_id}}
`;
    await rig.start(script, { role: 'lead' });
    await rig.untilState('idle');
    await rig.submit('start');
    await rig.untilHook('Stop');
    const [thread] = rig.threadIds();
    process.kill(rig.agentPid(), 'SIGKILL');
    await rig.exitStatus();
    await rig.stop();

    await rig.start(script, { role: 'lead', resume: thread ?? '' });
    await rig.untilState('idle');
    expect(await rig.text()).toMatch(/● spawned w01[^]*conversation resumed/);
    await rig.submit('and now?');
    await rig.untilHook('Stop', 2);
    expect(rig.outside.hooks.map((body) => [body.hook_event_name, body.session_id, body['source']])).toEqual([
      ['SessionStart', thread, 'startup'],
      ['UserPromptSubmit', thread, undefined],
      ['Stop', thread, undefined],
      ['SessionStart', thread, 'resume'],
      ['UserPromptSubmit', thread, undefined],
      ['Stop', thread, undefined],
    ]);
    expect(rig.outside.hooks.at(-1)?.['last_assistant_message']).toBe('it is still w01');
  });

  it('refuses to resume a conversation that it does not have', async () => {
    await rig.start('{}', { resume: 'no-such-thread' });
    expect(await rig.exitStatus()).toBe(1);
    expect(await rig.text()).toMatch(/^error: "resume" is not valid: no conversation "no-such-thread"/m);
  });

  it('tells the new conversation id after /clear', async () => {
    await rig.start('workers: [{ steps: [{ say: hi }] }]');
    await rig.untilHook('SessionStart');
    await rig.submit('/clear');
    await rig.untilHook('SessionStart', 2);
    await rig.untilState('idle');
    const [first, second] = rig.outside.hooks;
    expect(second).toMatchObject({ source: 'clear' });
    expect(second?.session_id).not.toBe(first?.session_id);
    expect(rig.threadIds()).toContain(second?.session_id);
  });

  it.each([
    ['Escape', 'Escape'],
    ['Ctrl-C', 'C-c'],
  ])(
    'ends its turn without a Stop hook when interrupted by %s, and takes what was queued',
    async (_name, key) => {
      await rig.start(`
workers:
  - contains: sleep
    steps: [{ sleep_until_interrupt: true }, { say: never said }]
  - steps: [{ say: next one }]
`);
      await rig.untilState('idle');
      await rig.submit('sleep');
      await rig.untilState('working');
      await rig.submit('after that');
      await rig.untilText(/queued: after that/);
      await rig.key(key);
      await rig.untilHook('Stop');
      expect(await rig.text()).toMatch(/Interrupted[^]*● next one/);
      expect(await rig.text()).not.toMatch(/never said/);
      expect(rig.outside.hookNames()).toEqual([
        'SessionStart',
        'UserPromptSubmit',
        'UserPromptSubmit',
        'Stop',
      ]);
    },
  );

  it('cancels a tool call that is under way when interrupted', async () => {
    rig.outside.tools = { wait_for_worker: () => new Promise(() => {}) };
    await rig.start('{ lead: [{ steps: [{ call: wait_for_worker, with: { worker_id: w01 } }] }] }', {
      role: 'lead',
    });
    await rig.untilState('idle');
    await rig.submit('wait');
    await rig.until('the call arrived', () => rig.outside.calls.length === 1);
    await rig.key('Escape');
    await rig.untilState('idle');
    expect(await rig.text()).toMatch(/Interrupted/);
  });

  it('[52] survives INT, TERM and HUP when told to ignore them, with children in sessions of their own that do the same', async () => {
    await rig.start(`
workers:
  - steps:
      - ignore_signals: true
      - fork: 2
        save: children
      - set: { told: '{{children}}' }
      - silence: true
`);
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilText(/• fork \d+ \d+/);
    const agent = rig.agentPid();
    const [, one, two] = /fork (\d+) (\d+)/.exec(await rig.text()) ?? [];
    const all = [agent, Number(one), Number(two)];
    expect(all.map(sessionOf)).toEqual([expect.any(Number), Number(one), Number(two)]);
    for (const pid of all)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    await rig.key('C-c', 'Escape');
    // The hang-up of the terminal too; then only KILL helps.
    await rig.stop();
    expect(all.map(isAlive)).toEqual([true, true, true]);
    for (const pid of all) process.kill(pid, 'SIGKILL');
    await rig.until('all are gone', () => !all.some(isAlive));
  });

  it('ends by itself when its terminal is gone', async () => {
    await rig.start('workers: []');
    await rig.untilState('idle');
    const agent = rig.agentPid();
    await rig.stop();
    await rig.until('the agent ended', () => !isAlive(agent));
    expect(rig.outside.hookNames()).toEqual(['SessionStart', 'SessionEnd']);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('says goodbye on %s and ends with %i', async (signal, status) => {
    await rig.start('workers: []');
    await rig.untilState('idle');
    process.kill(rig.agentPid(), signal);
    expect(await rig.exitStatus()).toBe(status);
    expect(rig.outside.hookNames()).toEqual(['SessionStart', 'SessionEnd']);
  });

  it.each([
    ['crash: 7', 7, ['SessionStart', 'UserPromptSubmit']],
    ['crash: SIGKILL', 137, ['SessionStart', 'UserPromptSubmit']],
    ['exit: 0', 0, ['SessionStart', 'UserPromptSubmit', 'SessionEnd']],
  ])('[56] ends as the script says: %s', async (step, status, hooks) => {
    await rig.start(`workers: [{ steps: [{ print: last words }, { ${step} }] }]`);
    await rig.untilState('idle');
    await rig.submit('go');
    expect(await rig.exitStatus()).toBe(status);
    expect(rig.outside.hookNames()).toEqual(hooks);
  });

  it.each([
    ['/exit', async () => rig.submit('/exit')],
    ['Ctrl-D', async () => rig.key('C-d')],
    ['Ctrl-C twice', async () => rig.key('C-c', 'C-c')],
  ])('is left by a person with %s', async (_name, leave) => {
    await rig.start('workers: []');
    await rig.untilState('idle');
    await leave();
    expect(await rig.exitStatus()).toBe(0);
  });

  it('freezes its screen on silence, without ending its turn', async () => {
    await rig.start('workers: [{ steps: [{ silence: true }] }]');
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilState('working');
    const agent = rig.agentPid();
    const written = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${agent}/io`, 'utf8'))?.[1]);
    let before = -1;
    await rig.until('nothing is written any more', async () => {
      const last = before;
      before = written();
      // Longer than a tick of the spinner, which would write.
      await new Promise((resolve) => setTimeout(resolve, 700));
      return last === before;
    });
    expect(rig.outside.hookNames()).toEqual(['SessionStart', 'UserPromptSubmit']);
  });

  it.each([
    [
      'workers: [{ steps: [{ sya: hello }] }]',
      /script\.yaml:1:\d+: workers\.0\.steps\.0: no step is called "sya"/,
    ],
    ['workers: [', /script\.yaml:\d+:\d+: /],
  ])('explains what is wrong with a script and ends with 64: %s', async (script, message) => {
    await rig.start(script);
    expect(await rig.exitStatus()).toBe(64);
    expect((await rig.text()).replaceAll('\n', ' ')).toMatch(message);
  });
});

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

function sessionOf(pid: number): number {
  const stat = readFileSync(join('/proc', String(pid), 'stat'), 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
