import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD, writeFiles, type McpCaller } from '../../support/session-rig.js';
import { fingerprint } from '../../support/repo.js';

/** Two workers change the same line; the second is sent back, merges and resolves. */
const SCRIPT = `${SILENT_LEAD}
workers:
  - name: left
    contains: left side
    steps:
      - write: a.txt
        content: "left\\ntwo\\nthree\\n"
      - commit: left
      - report_done: left
  - name: right
    contains: right side
    steps:
      - write: a.txt
        content: "right\\ntwo\\nthree\\n"
      - commit: right
      - report_done: right
  - name: resolve
    contains: conflicts with what is integrated
    steps:
      - run: git merge agentorchestr/SESSION/integration
        allow_fail: true
      - write: a.txt
        content: "left and right\\ntwo\\nthree\\n"
      - commit: resolved
      - report_done: merged both
  - name: dirty
    contains: leave uncommitted
    steps:
      - write: extra.txt
        content: extra
      - call: report_done
        with: { summary: x }
        allow_error: true
      - report_done: left uncommitted
  - name: empty
    contains: change nothing
    steps: [{ report_blocked: no way in }]
  - name: review
    contains: only read
    steps:
      - write: sneaky.txt
        content: must not arrive
      - commit: sneaky
      - report_done: 1. a.txt:1 fine
  - name: flags
    contains: commits the flag
    steps:
      - run: mkdir -p .agentorchestr && echo done > .agentorchestr/done.flag && echo p > .agentorchestr/prompt_x.txt
      - write: real.txt
        content: real
      - run: git add -A && git commit -qm everything
      - run: git add -f .agentorchestr/prompt_x.txt && git commit -qm forced
        allow_fail: true
      - report_done: committed all
  - name: verdict
    contains: Judge whether
    steps: [{ report_done: looks good to me }]
  - name: more
    contains: one more file
    steps:
      - write: more.txt
        content: more
      - write: local.env
        content: precious
      - commit: more
      - report_done: more
`;

let rig: SessionRig;
let lead: McpCaller;
let before: Record<string, string>;

beforeAll(async () => {
  rig = new SessionRig();
  writeFiles(rig.repo.path, {
    '.gitignore': 'set-up.log\n*.env\n',
    'check.sh': 'test "$(head -1 a.txt)" = "left and right"\n',
  });
  rig.repo.commit('a check');
  rig.repo.git('tag', 'v1');
  rig.repo.git('branch', 'feature');
  // Agents' own commits run the user's hooks, as they should; making worktrees and merges is ours and must not.
  for (const hook of ['post-checkout', 'pre-merge-commit', 'post-rewrite'])
    writeFileSync(join(rig.repo.repository, 'hooks', hook), '#!/bin/sh\ntouch "$HOME/hook-ran"\nexit 1\n', {
      mode: 0o755,
    });
  writeFileSync(join(rig.repo.repository, 'info/exclude'), '# mine\n*.secret\n');
  writeFileSync(join(rig.repo.path, 'uncommitted.txt'), 'the user works here');
  before = fingerprint(rig.repo.path, rig.repo.repository);
  const command = (line: string) => ({ label: 'check', command: line, source: 'test' });
  await rig.start(SCRIPT.replaceAll('SESSION', rig.sessionId), {
    verify_commands: [command('sh check.sh'), command('test ! -e sneaky.txt')],
    setup_commands: [command('echo set-up > set-up.log')],
    limits: { max_workers: 20, spawns_per_minute: 100 },
  });
  lead = await rig.lead();
}, 180_000);
afterAll(() => rig.close(), 60_000);

async function done(task: string, perspective = 'implementer'): Promise<string> {
  const id = String((await lead.ok('spawn_worker', { task, perspective }))['worker_id']);
  expect(await lead.ok('wait_for_worker', { worker_id: id, timeout_s: 60 })).toMatchObject({ state: 'done' });
  return id;
}
const integration = () => rig.store.session(rig.sessionId)?.integration_worktree ?? '';
const inTree = (name: string) => existsSync(join(integration(), name));

describe('integration, verification, verdict', () => {
  it('states the base and what it leaves out', () => {
    expect(rig.store.session(rig.sessionId)?.base_statement).toMatch(
      /^base main@[0-9a-f]{7}.*1 uncommitted file is not included$/,
    );
  });

  it('refuses the verdict while nothing is verified, while workers run, and while work is not integrated', async () => {
    expect(await lead.code('mark_goal_done', { summary: 'x' })).toBe('VERIFICATION_MISSING');
    const left = await done('left side');
    expect(left).toBe('w01');
    expect(await lead.call('mark_goal_done', { summary: 'x' })).toMatchObject({
      answer: { error: { code: 'WORKERS_NOT_INTEGRATED', message: expect.stringContaining('w01') } },
    });
    const { worker_id: running } = await lead.ok('spawn_worker', { task: 'a task no rule knows' });
    expect(await lead.code('mark_goal_done', { summary: 'x', force: true, force_reason: 'y' })).toBe(
      'WORKERS_RUNNING',
    );
    await lead.ok('kill_worker', { worker_id: running });
  });

  it('integrates a clean worker, predicts the conflict of the next, and touches no tree for it', async () => {
    expect(await lead.ok('integrate_worker', { worker_id: 'w01' })).toMatchObject({
      merged: true,
      conflicts: [],
    });
    expect(readFileSync(join(integration(), 'a.txt'), 'utf8')).toBe('left\ntwo\nthree\n');
    await done('right side').catch(async () => undefined);
    const right = rig.store.workers(rig.sessionId).at(-1)?.worker_id ?? '';
    // It started from what was integrated: no conflict. A worker from the session's base has one.
    const { base_commit: base } = rig.store.session(rig.sessionId) ?? { base_commit: '' };
    expect(rig.store.worker(rig.sessionId, right)?.base_commit).not.toBe(base);
    const spawned = await lead.ok('spawn_worker', { task: 'right side, from the base', base });
    const id = String(spawned['worker_id']);
    await lead.ok('wait_for_worker', { worker_id: id });
    const head = rig.world.at(integration()).git('rev-parse', 'HEAD');
    expect(await lead.ok('integrate_worker', { worker_id: id })).toMatchObject({
      merged: false,
      conflicts: ['a.txt'],
      sent_back: false,
      commit: null,
    });
    expect(rig.world.at(integration()).git('rev-parse', 'HEAD')).toBe(head);
    expect(rig.world.at(integration()).git('status', '--porcelain')).toBe('');
    const sent = await lead.ok('integrate_worker', { worker_id: id, on_conflict: 'worker' });
    expect(sent).toMatchObject({ merged: false, conflicts: ['a.txt'], sent_back: true });
    expect(await lead.ok('wait_for_worker', { worker_id: id })).toMatchObject({
      state: 'done',
      summary: 'merged both',
    });
    expect(await lead.ok('integrate_worker', { worker_id: id })).toMatchObject({ merged: true });
    expect(readFileSync(join(integration(), 'a.txt'), 'utf8')).toBe('left and right\ntwo\nthree\n');
    expect(rig.types().filter((type) => type === 'conflict.predicted')).toHaveLength(2);
  });

  it('refuses a dirty worker until asked to commit', async () => {
    const id = await done('leave uncommitted');
    expect(await lead.code('integrate_worker', { worker_id: id })).toBe('WORKER_DIRTY');
    expect(inTree('extra.txt')).toBe(false);
    expect(await lead.ok('integrate_worker', { worker_id: id, commit: true })).toMatchObject({
      merged: true,
    });
    expect(inTree('extra.txt')).toBe(true);
  });

  it('finds nothing in a worker that committed nothing, and does not say that it is in', async () => {
    const { worker_id: id } = await lead.ok('spawn_worker', { task: 'change nothing' });
    expect(await lead.ok('wait_for_worker', { worker_id: id })).toMatchObject({ state: 'blocked' });
    expect(await lead.ok('integrate_worker', { worker_id: id })).toMatchObject({
      ...{ merged: false, commit: null, conflicts: [] },
      tip: expect.stringContaining('nothing to integrate'),
    });
    expect(rig.store.worker(rig.sessionId, String(id))?.integrated_commit).toBe(null);
  });

  it('[60] keeps the edits of a read-only perspective out', async () => {
    const id = await done('only read', 'reviewer');
    expect(await lead.code('integrate_worker', { worker_id: id })).toBe('WORKER_READ_ONLY');
    expect(inTree('sneaky.txt')).toBe(false);
  });

  it('[61] keeps our own files out of every commit, even forced ones', async () => {
    const id = await done('commits the flag');
    expect(await lead.ok('integrate_worker', { worker_id: id })).toMatchObject({ merged: true });
    expect(inTree('real.txt')).toBe(true);
    const files = rig.world.at(integration()).git('ls-tree', '-r', '--name-only', 'HEAD').split('\n');
    expect(files.filter((file) => file.includes('.agentorchestr'))).toEqual([]);
  });

  it('shows diffs and overlaps, uncommitted work included', async () => {
    const diff = await lead.ok('worker_diff', { worker_id: 'w01' });
    expect(diff).toMatchObject({ files: [{ path: 'a.txt', added: 1, removed: 1 }], uncommitted: [] });
    expect(String(diff['diff'])).toContain('+left');
    const { overlaps } = (await lead.ok('overlaps')) as {
      overlaps: { a: string; b: string; files: string[] }[];
    };
    expect(overlaps.some(({ files }) => files.includes('a.txt'))).toBe(true);
  });

  it('[62] lets two workers review each other and returns at once', async () => {
    const answer = await lead.ok('cross_review', {
      worker_a: 'w01',
      worker_b: rig.store.workers(rig.sessionId).at(-1)?.worker_id,
      focus: 'naming',
    });
    expect(answer['review_started']).toBe(true);
    const { reviewers } = answer as unknown as { reviewers: { reviewer: string; reviews: string }[] };
    for (const { reviewer, reviews } of reviewers) {
      // It may have been asked for its report since.
      const asked = rig.store.messages(rig.sessionId, reviewer).findLast(({ kind }) => kind !== 'nudge');
      const text = asked?.text ?? '';
      expect(text).toContain(rig.store.worker(rig.sessionId, reviews)?.branch);
      expect(text).toContain('naming');
      await lead.ok('kill_worker', { worker_id: reviewer });
    }
  });

  it('[63] verifies the integrated result: set-up and commands with exit codes at this very commit, then the agent when asked', async () => {
    const verified = await lead.ok('verify', { success_criteria: 'the first line names both' });
    const head = rig.world.at(integration()).git('rev-parse', 'HEAD');
    expect(verified).toMatchObject({
      state: 'passed',
      passed: true,
      commit: head,
      ask_again: false,
      verifier: { state: 'done', summary: 'looks good to me', evidence: 'agent said' },
    });
    expect(
      (verified['commands'] as { command: string; exit_code: number }[]).map(({ command, exit_code }) => [
        command,
        exit_code,
      ]),
    ).toEqual([
      ['echo set-up > set-up.log', 0],
      ['sh check.sh', 0],
      ['test ! -e sneaky.txt', 0],
    ]);
    expect(await lead.ok('integration_status')).toMatchObject({ commit: head, clean: true, verified: true });
    expect(inTree('set-up.log')).toBe(false);
  });

  it('refuses the verdict when the branch has moved since', async () => {
    const id = await done('one more file');
    await lead.ok('integrate_worker', { worker_id: id });
    const discard = [{ worker: 'w03', reason: 'w04 does it' }];
    expect(await lead.call('mark_goal_done', { summary: 'x', discard })).toMatchObject({
      answer: { error: { code: 'VERIFICATION_MISSING', message: expect.stringContaining('moved') } },
    });
    expect(await lead.code('mark_goal_done', { summary: 'x', discard, force: true })).toBe(
      'VERIFICATION_MISSING',
    );
  });

  it("[33] ends done with one branch, a summary, agents ended and the user's world as it was", async () => {
    await lead.ok('verify');
    const right = rig.store.workers(rig.sessionId).filter((worker) => worker.role === 'worker');
    const status = (await lead.ok('integration_status')) as unknown as {
      workers: { worker_id: string; integrated: boolean; run_state: string }[];
    };
    const left = status.workers
      .filter((worker) => !worker.integrated && worker.run_state === 'succeeded')
      .map((worker) => worker.worker_id);
    expect(right.length).toBeGreaterThan(5);
    expect(
      await lead.ok('mark_goal_done', {
        summary: 'both sides are in',
        discard: left.map((worker) => ({ worker, reason: 'superseded' })),
      }),
    ).toEqual({ acknowledged: true, state: 'done' });
    rig.interruptLead();
    await rig.supervisorEnded();
    const session = rig.store.session(rig.sessionId);
    expect(session).toMatchObject({ state: 'done', summary: 'both sides are in', verdict: 'done' });
    expect(rig.repo.git('show', `agentorchestr/${rig.sessionId}/integration:a.txt`)).toBe(
      'left and right\ntwo\nthree',
    );
    expect(fingerprint(rig.repo.path, rig.repo.repository)).toEqual(before);
    expect(existsSync(join(rig.world.sandbox.home, 'hook-ran'))).toBe(false);
    expect(
      rig.store.workers(rig.sessionId).every((worker) => ['exited', 'lost'].includes(worker.state)),
    ).toBe(true);
    // Integrated and clean worktrees are gone; their branches stay, and so does what was discarded.
    const branches = rig.repo
      .git('branch', '--list', `agentorchestr/${rig.sessionId}/*`, '--format=%(refname:short)')
      .split('\n');
    expect(branches).toContain(`agentorchestr/${rig.sessionId}/implementer-w01`);
    expect(existsSync(right.at(-1)?.worktree ?? '')).toBe(false);
    // What no branch holds was kept first, outside git.
    const kept = join(
      rig.paths.data,
      'sessions',
      rig.sessionId,
      'salvage',
      right.at(-1)?.worker_id ?? '',
      'local.env',
    );
    expect(readFileSync(kept, 'utf8')).toBe('precious');
    // w01's last run was a review that was cancelled: it stays for somebody to look at.
    expect(existsSync(right[0]?.worktree ?? '')).toBe(true);
    for (const id of left)
      expect([id, existsSync(rig.store.worker(rig.sessionId, id)?.worktree ?? '')]).toEqual([id, true]);
  });
});
