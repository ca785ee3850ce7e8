import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FrozenCommand } from '../../../src/core/events/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { newId } from '../../../src/platform/ids.js';
import { silentLogger } from '../../../src/platform/logger.js';
import { VerifyJobs } from '../../../src/services/supervise/verify-jobs.js';
import type { Store } from '../../../src/store/contract.js';
import { openStore } from '../../../src/store/open-store.js';
import { createGitWorld, type GitWorld, type TestRepo } from '../../support/repo.js';
import { sampleEvent, SESSION } from '../../support/sample-events.js';

let world: GitWorld;
let repo: TestRepo;
let store: Store;
let head: string;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
  head = repo.git('rev-parse', 'HEAD');
  store = openStore({ path: world.place('state.db'), clock: systemClock });
});
afterEach(async () => {
  store.close();
  await world.git.idle();
  await world.close();
});

const command = (label: string, text: string): FrozenCommand => ({ label, command: text, source: 'test' });

function jobs(
  verify: FrozenCommand[],
  more: { setup?: FrozenCommand[]; subdirectory?: string } = {},
): VerifyJobs {
  store.append(
    sampleEvent('session.created', {
      project: join(repo.path, more.subdirectory ?? ''),
      repository: repo.repository,
      subdirectory: more.subdirectory ?? '',
      verify_commands: verify,
      setup_commands: more.setup ?? [],
    }),
  );
  return supervisor();
}

/** What a supervisor has; a second one stands for the next process. */
const supervisor = (): VerifyJobs =>
  new VerifyJobs({
    sessionId: SESSION,
    store,
    git: world.git,
    clock: systemClock,
    logger: silentLogger,
    places: {
      directory: world.place('session'),
      data: world.place('data'),
      worktrees: world.place('worktrees'),
      trash: world.place('trash'),
      imported: world.place('imported'),
    },
    commandEnvironment: { ...world.sandbox.env, GREETING: 'hello' },
    newId,
  });

const worktreesLeft = () => repo.git('worktree', 'list').split('\n').length - 1;

describe('a verification', () => {
  it('runs set-up and verify commands in a tree of its own at exactly that commit, and leaves nothing', async () => {
    repo.write('a.txt', 'changed by the user meanwhile\n');
    const { finished } = jobs(
      [command('test', 'git rev-parse HEAD; git status --short; echo $GREETING; pwd')],
      {
        setup: [command('deps', 'echo set up > setup.txt')],
      },
    ).start(head);
    const row = await finished;
    expect(row).toMatchObject({
      state: 'passed',
      commit: head,
      nothing_to_verify: false,
      reason: null,
      results: [
        { label: 'deps', exit_code: 0 },
        { label: 'test', exit_code: 0 },
      ],
    });
    const [said, changed, greeting, cwd] = row.results[1]?.tail.split('\n') ?? [];
    expect([said, changed, greeting]).toEqual([head, '?? setup.txt', 'hello']);
    expect(cwd?.startsWith(world.place('worktrees'))).toBe(true);
    expect([worktreesLeft(), existsSync(cwd ?? '')]).toEqual([0, false]);
    expect(repo.read('a.txt')).toBe('changed by the user meanwhile\n');
  });

  it('stops at the first command that fails, and says which and how', async () => {
    const marker = world.place('ran');
    const { finished } = jobs([
      command('lint', 'true'),
      command('test', 'echo two tests failed; exit 7'),
      command('build', `touch ${marker}`),
    ]).start(head);
    expect(await finished).toMatchObject({
      state: 'failed',
      reason: 'test: "echo two tests failed; exit 7" ended with 7',
      results: [
        { label: 'lint', exit_code: 0 },
        { label: 'test', exit_code: 7, tail: 'two tests failed' },
      ],
    });
    expect([existsSync(marker), worktreesLeft()]).toEqual([false, 0]);
  });

  it('fails in its set-up as a verification that failed', async () => {
    const { finished } = jobs([command('test', 'true')], { setup: [command('deps', 'exit 2')] }).start(head);
    expect(await finished).toMatchObject({ state: 'failed', reason: 'deps: "exit 2" ended with 2' });
  });

  it('works in the project’s folder below the top', async () => {
    repo.commit('sub', { 'pkg/one/x.txt': 'x' });
    const { finished } = jobs([command('test', 'ls')], { subdirectory: 'pkg/one' }).start(
      repo.git('rev-parse', 'HEAD'),
    );
    expect((await finished).results[0]?.tail).toBe('x.txt');
  });

  it('brings the ignored files that the project names', async () => {
    repo.commit('names', { '.gitignore': '.env\n', '.worktreeinclude': '.env\n' });
    writeFileSync(join(repo.path, '.env'), 'KEY=1');
    const { finished } = jobs([command('test', 'cat .env')]).start(repo.git('rev-parse', 'HEAD'));
    expect(await finished).toMatchObject({ state: 'passed', results: [{ tail: 'KEY=1' }] });
  });

  it('of a commit that does not exist fails with git’s own words', async () => {
    const { finished } = jobs([command('test', 'true')]).start('0'.repeat(40));
    const row = await finished;
    expect([row.state, row.results]).toEqual(['failed', []]);
    expect(row.reason).not.toBe('');
  });

  it('without commands is over at once: nothing to verify, and no tree is made', async () => {
    const { finished } = jobs([]).start(head);
    expect(await finished).toMatchObject({ state: 'passed', nothing_to_verify: true, commands: [] });
    expect(existsSync(world.place('worktrees', 'verify'))).toBe(false);
  });
});

describe('a verification that is asked for again', () => {
  /** Runs until the file is there. */
  const gate = () => {
    const path = world.place('gate');
    return { open: () => writeFileSync(path, ''), text: `while [ ! -e ${path} ]; do sleep 0.05; done` };
  };

  it('is joined while it runs: one job for one commit', async () => {
    const { open, text } = gate();
    const all = jobs([command('test', text)]);
    const first = all.start(head);
    const second = all.start(head);
    const third = all.join(first.verifyId);
    expect([second.verifyId, third.verifyId]).toEqual([first.verifyId, first.verifyId]);
    expect(store.verifications(SESSION).map(({ state }) => state)).toEqual(['running']);
    open();
    const [one, two, three] = await Promise.all([first.finished, second.finished, third.finished]);
    expect([two, three]).toEqual([one, one]);
    expect(one.state).toBe('passed');
  });

  it('is another job for another commit, and a new one once the first is over', async () => {
    const all = jobs([command('test', 'true')]);
    const first = all.start(head);
    const other = all.start(repo.commit('next', { 'n.txt': 'n' }));
    await Promise.all([first.finished, other.finished]);
    const again = all.start(head);
    await again.finished;
    expect(new Set([first.verifyId, other.verifyId, again.verifyId]).size).toBe(3);
    expect(await all.join(first.verifyId).finished).toMatchObject({
      verify_id: first.verifyId,
      state: 'passed',
    });
  });

  it('by an id that nobody gave, or of another session, is refused', () => {
    const all = jobs([]);
    store.append(
      sampleEvent('session.created', {}, { session_id: '00000001' }),
      sampleEvent('verify.started', { verify_id: 'elsewhere' }, { session_id: '00000001' }),
    );
    for (const id of ['nobody', 'elsewhere'])
      expect(() => all.join(id)).toThrow(
        expect.objectContaining({ code: 'UNKNOWN_VERIFY', params: { verify_id: id } }),
      );
  });

  it('that an earlier supervisor left running is over as failed, and the next start is a new one', async () => {
    jobs([command('test', 'true')]);
    store.append(sampleEvent('verify.started', { verify_id: 'left', commit: head }));
    const next = supervisor();
    const { verifyId, finished } = next.start(head);
    expect(verifyId).not.toBe('left');
    expect(await next.join('left').finished).toMatchObject({
      state: 'failed',
      reason: 'interrupted: the supervisor that ran it ended; call verify again',
    });
    expect(await finished).toMatchObject({ state: 'passed' });
  });
});

describe('closing', () => {
  it('ends the command that runs, with what it started, and says why it failed', async () => {
    const pids = world.place('pids');
    const all = jobs([command('test', `sleep 300 & echo $! > ${pids}; wait`), command('build', 'true')]);
    const { finished } = all.start(head);
    await until(() => existsSync(pids));
    await all.close();
    expect(await finished).toMatchObject({
      state: 'failed',
      reason: 'test: it was stopped: the session ends',
      results: [{ label: 'test', exit_code: null, stopped: true }],
    });
    expect(worktreesLeft()).toBe(0);
  });

  it('starts no command any more, however early in the job it comes', async () => {
    const marker = world.place('ran');
    mkdirSync(world.place('worktrees'), { recursive: true });
    const all = jobs([command('test', `touch ${marker}; sleep 300`)]);
    const { finished } = all.start(head);
    await all.close();
    expect(await finished).toMatchObject({ state: 'failed' });
    expect([existsSync(marker), worktreesLeft()]).toEqual([false, 0]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen within 20 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
