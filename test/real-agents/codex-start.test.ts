import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt } from '../support/person.js';
import { crew, GOAL, VERIFY } from '../support/real-agents/crew.js';
import { RealRig } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const LEAD = program('lead', says('# Goal\n'), function* () {
  yield call('mark_goal_failed', { reason: 'it reached me' });
  yield say('Bye.');
});
const WORK = program('work', says('make it'), function* () {
  yield bash('echo made > made.txt && git add -A && git commit -qm made');
  yield call('report_done', { summary: 'it is made' });
  yield say('Done.');
});
const over = (limitMs = 90_000) =>
  rig.event('end of session', ({ type }) => type === 'session.ended', limitMs);
const settings = () => readFileSync(join(rig.world.sandbox.home, '.codex/config.toml'), 'utf8');

/** Somebody who likes another screen, and has a hook that they have reviewed. */
const OWN = (home: string) => {
  const hook = { async: false, command: 'touch $HOME/own-hook', timeout: 600, type: 'command' };
  const identity = JSON.stringify({ event_name: 'user_prompt_submit', hooks: [hook] });
  return `
[tui]
vim_mode_default = true
status_line = []
[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "${hook.command}"
[hooks.state."${home}/.codex/config.toml:user_prompt_submit:0:0"]
trusted_hash = "sha256:${createHash('sha256').update(identity).digest('hex')}"
`;
};

/** A program in place of the agent that does something first. */
function before(script: string): { codex: string } {
  const path = join(rig.world.sandbox.root, 'codex-wrapped');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { codex: path };
}
const real = () => `exec '${rig.binaries['codex']}' "$@"`;

describe('a Codex', () => {
  it('[C-14] that takes long to start gets its first text when it takes input, not before', async () => {
    rig = await RealRig.create({ rules: [LEAD] });
    await rig.startWith('codex', { binaries: before(`echo '$ '; sleep 5; ${real()}`) });
    expect((await over()).data).toMatchObject({ summary: 'it reached me' });
    expect(rig.llm.prompts()).toHaveLength(1);
  });

  it('[C-14] that ends at once never has its text typed into what is left', async () => {
    rig = await RealRig.create();
    await rig.startWith('codex', { binaries: before('echo "not logged in"; exit 3') });
    expect((await over()).data).toMatchObject({ state: 'failed' });
    expect(rig.types()).not.toContain('message.typed');
  });

  it('[C-19] that is not logged in waits for a person', async () => {
    rig = await RealRig.create();
    await rig.startWith('codex', { binaries: before(`rm "$HOME/.codex/config.toml"; ${real()}`) });
    const item = await personAt(rig).item('lead');
    expect(item).toMatchObject({ worker_id: 'lead', kind: 'login' });
  });

  it('works whatever its person has made of its screen, and their own hooks run as ever', async () => {
    rig = await RealRig.create({ rules: [WORK], codexSettings: OWN });
    const lead = await rig.startWorkersOf('codex');
    await lead.ok('spawn_worker', { task: 'make it' });
    expect(await lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 90 })).toMatchObject({
      state: 'done',
      summary: 'it is made',
    });
    const submitted = rig.events().find(({ type }) => type === 'message.submitted');
    expect(submitted).toMatchObject({ evidence: 'protocol' });
    expect(existsSync(join(rig.world.sandbox.home, 'own-hook'))).toBe(true);
    // What it notes by itself is about its own screen; trust and hooks are as they were.
    expect(settings()).toContain('status_line = []');
    expect(settings()).not.toContain('[projects');
    expect(settings()).not.toContain('session-flags');
  });

  it('runs no hook of a repository that its person has not reviewed, and does its work', async () => {
    rig = await RealRig.create({ rules: [WORK] });
    const hook = { type: 'command', command: 'touch "$HOME/unseen"' };
    rig.repo.commit('hooks', {
      '.codex/hooks.json': JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } }),
    });
    const lead = await rig.startWorkersOf('codex');
    await lead.ok('spawn_worker', { task: 'make it' });
    expect(await lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 90 })).toMatchObject({
      state: 'done',
    });
    expect(existsSync(join(rig.world.sandbox.home, 'unseen'))).toBe(false);
    expect(personAt(rig).answered('w01')).toMatchObject([
      { by: 'agreed to beforehand: trust in the project', answer: expect.stringMatching(/without trusting/) },
    ]);
    const submitted = rig.events().find(({ type }) => type === 'message.submitted');
    expect(submitted).toMatchObject({ evidence: 'protocol' });
    expect(settings()).not.toContain('hooks');
  });
});

describe('a lead of Codex', () => {
  it('[36] that dies is started again in its own conversation', async () => {
    rig = await RealRig.create({
      rules: [
        program('lead', says('# Goal\n'), function* () {
          // Once: what it did last may not be in the conversation yet when it dies.
          yield bash('mkdir "$HOME/died" && kill -9 $PPID; echo alive');
          yield call('mark_goal_failed', { reason: 'I came back' });
          yield say('Bye.');
        }),
      ],
    });
    await rig.startWith('codex');
    expect((await over(120_000)).data).toMatchObject({ state: 'failed', summary: 'I came back' });
    const threads = rig
      .events()
      .filter(({ type, worker_id: id }) => type === 'thread.opened' && id === 'lead');
    expect(threads).toHaveLength(1);
  });

  it('brings the branch of a crew of its own home, verified', async () => {
    rig = await RealRig.create({ rules: crew(), sampleProject: true });
    await rig.startWith('codex', { goal: GOAL, verify_commands: VERIFY });
    expect((await over(240_000)).data).toMatchObject({ state: 'done' });
    const branch = `agentorchestr/${rig.sessionId}/integration`;
    expect(rig.repo.git('show', `${branch}:src/tools.js`)).toContain('{ capitalize, slug, words }');
  });
});
