import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD, writeFiles, type McpCaller } from '../../support/session-rig.js';
import { fingerprint } from '../../support/repo.js';

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: silent
    contains: stay at it
    steps: [{ silence: true }]
  - name: keep
    contains: keep the prompt
    steps:
      - write: prompt-seen.txt
        content: '{{prompt}}'
      - end: true
`;

const PROJECT = '# Project brief\nA tiny project.\n\n## How to verify\n- test: true\n';
const TORTURE = [
  '-leading dash',
  'quotes " \' ` and $(touch X) $HOME ${HOME} !! \\n %s',
  'ends with a semicolon;',
  'C-c Enter Escape #{pane_id} @file',
  '\tTab, emoji 🎉, umlauts äöü, 漢字',
].join('\n');

let rig: SessionRig;
let lead: McpCaller;
let before: Record<string, string>;

beforeAll(async () => {
  rig = new SessionRig();
  writeFiles(rig.repo.path, { '.agentorchestr/PROJECT.md': PROJECT, 'CONVENTIONS.md': 'Two spaces.' });
  rig.repo.commit('project files');
  before = fingerprint(rig.repo.path, rig.repo.repository);
  await rig.start(SCRIPT, {
    goal: `make it so\n${TORTURE}`,
    limits: { max_workers: 4, spawns_per_minute: 100 },
  });
  lead = await rig.lead();
}, 180_000);
afterAll(() => rig.close(), 60_000);

const spawn = (input: Record<string, unknown>) => lead.ok('spawn_worker', input);

describe('spawning', () => {
  it('[10] [32] gives the lead PROJECT.md and CONVENTIONS.md first and the goal last', () => {
    const prompt = readFileSync(join(rig.directory, 'supervisor_prompt.txt'), 'utf8');
    expect(prompt.startsWith(`${PROJECT.trim()}\n\nTwo spaces.`)).toBe(true);
    expect(prompt.endsWith(`# Goal\nmake it so\n${TORTURE}`)).toBe(true);
  });

  it('[26] starts the lead only after the port answers', () => {
    const order = rig.types();
    expect(order.indexOf('supervisor.started')).toBeLessThan(order.indexOf('worker.created'));
    expect(order.indexOf('supervisor.started')).toBeGreaterThan(order.indexOf('session.created'));
  });

  it('[39] [40] makes a numbered worker with its own branch, worktree and pane', async () => {
    const answer = await spawn({ task: 'stay at it: first' });
    const branch = `agentorchestr/${rig.sessionId}/implementer-w01`;
    expect(answer).toEqual({
      worker_id: 'w01',
      perspective: 'implementer',
      agent: 'scripted',
      worktree: join(rig.paths.data, 'worktrees/project', rig.sessionId, 'implementer-w01'),
      branch,
      tmux_pane: expect.stringMatching(/^%\d+$/),
      state: expect.stringMatching(/^(starting|running|idle)$/),
      reused: false,
      warnings: [],
    });
    const worktree = String(answer['worktree']);
    expect(rig.world.at(worktree).git('rev-parse', '--abbrev-ref', 'HEAD')).toBe(branch);
    expect(existsSync(join(worktree, 'a.txt'))).toBe(true);
  });

  it('[45] returns the same worker for the same call while it is at it, and makes no second worktree', async () => {
    const before = rig.repo.git('worktree', 'list');
    expect(await spawn({ task: 'stay at it: first' })).toMatchObject({ worker_id: 'w01', reused: true });
    expect(rig.repo.git('worktree', 'list')).toBe(before);
  });

  it('replays a spawn by its idempotency key, and refuses the key for other input', async () => {
    const input = { task: 'stay at it: keyed', idempotency_key: 'k1' };
    const [first, second] = await Promise.all([spawn(input), spawn(input)]);
    expect(second?.['worker_id']).toBe(first?.['worker_id']);
    expect(await spawn(input)).toMatchObject({ worker_id: first?.['worker_id'], reused: true });
    expect(await lead.code('spawn_worker', { ...input, task: 'other' })).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('[44] falls back from an unknown agent_hint with a warning', async () => {
    const answer = await spawn({ task: 'stay at it: hint', agent_hint: 'nobody' });
    expect(answer).toMatchObject({
      agent: 'scripted',
      warnings: [expect.stringContaining('"nobody" is not an agent of this session')],
    });
  });

  it('[43] takes every perspective by name', async () => {
    const { perspectives } = (await lead.ok('list_perspectives')) as { perspectives: { name: string }[] };
    await lead.ok('kill_worker', { worker_id: 'w02' });
    for (const { name } of perspectives) {
      const { worker_id: id } = await spawn({ task: `stay at it as ${name}`, perspective: name });
      expect(rig.store.worker(rig.sessionId, String(id))).toMatchObject({
        perspective: name,
        branch: `agentorchestr/${rig.sessionId}/${name}-${String(id)}`,
      });
      await lead.ok('kill_worker', { worker_id: id });
    }
  });

  it('[41] composes preamble, role, scope (20 and a count), criteria, context, task, in this order', async () => {
    const scope = Array.from({ length: 23 }, (_, index) => `src/file-${index}.ts`);
    const { worker_id: id } = await spawn({
      task: 'stay at it: ordered',
      perspective: 'tester',
      file_scope: scope,
      pass_criteria: 'C'.repeat(500),
      extra_context: 'the lead says so',
    });
    const prompt = readFileSync(
      join(rig.directory, `workers/${String(id)}/prompt_${String(id)}.txt`),
      'utf8',
    );
    const marks = [
      `# You are worker ${String(id)}`,
      '# Your role: tester',
      '# File scope',
      '- src/file-19.ts\n- +3 more',
      `${'C'.repeat(400)}\n[truncated]`,
      'the lead says so',
      '# Task\nstay at it: ordered',
    ];
    const positions = marks.map((mark) => prompt.indexOf(mark));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(Math.min(...positions)).toBeGreaterThanOrEqual(0);
    expect(prompt).not.toContain('src/file-20.ts');
    // The finished sentinel line stands nowhere in it, so an echo of the prompt cannot complete a run.
    expect(prompt).not.toMatch(/^\s*WORKER_(DONE|BLOCKED|FAILED)(\[\w+\])?: /m);
    await lead.ok('kill_worker', { worker_id: id });
  });

  it('[42] brings a prompt with shell, key and quote traps to the agent byte for byte', async () => {
    const { worker_id: id } = await spawn({ task: `keep the prompt\n${TORTURE}` });
    await rig.event(
      'end of the turn',
      (event) => event.type === 'message.answered' && event.worker_id === id,
    );
    const worktree = rig.store.worker(rig.sessionId, String(id))?.worktree ?? '';
    const seen = readFileSync(join(worktree, 'prompt-seen.txt'), 'utf8');
    expect(seen).toBe(rig.store.messages(rig.sessionId, String(id))[0]?.text);
    expect(seen.endsWith(TORTURE)).toBe(true);
    expect(existsSync(join(worktree, 'X'))).toBe(false);
    await lead.ok('kill_worker', { worker_id: id });
  });

  it('refuses more live workers than allowed, says the limit, and records it', async () => {
    const results = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        lead.call('spawn_worker', { task: `stay at it: many ${index}` }),
      ),
    );
    const refused = results
      .filter((result) => result.isError)
      .map((result) => result.answer['error'] as { code: string; message: string });
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused)
      expect(error).toMatchObject({ code: 'LIMIT_REACHED', message: 'limit reached: live workers (4 of 4)' });
    expect(rig.events().filter((event) => event.type === 'limit.reached')).toHaveLength(refused.length);
    const alive = rig.store
      .workers(rig.sessionId)
      .filter((worker) => worker.role === 'worker' && !['exited', 'lost'].includes(worker.state));
    expect(alive).toHaveLength(4);
  });

  it('[113] leaves nothing of ours readable by others', () => {
    for (const path of [
      rig.directory,
      join(rig.directory, 'workers'),
      join(rig.paths.data, 'sessions', rig.sessionId),
    ])
      expect([path, (statSync(path).mode & 0o077).toString(8)]).toEqual([path, '0']);
    for (const name of ['control.json', 'secret', 'supervisor.log'])
      expect([
        name,
        (statSync(join(rig.paths.data, 'sessions', rig.sessionId, name)).mode & 0o077).toString(8),
      ]).toEqual([name, '0']);
    expect(statSync(rig.paths.database).mode & 0o077).toBe(0);
  });

  it("leaves the user's checkout as it is", () => {
    expect(fingerprint(rig.repo.path, rig.repo.repository)).toEqual(before);
  });
});
