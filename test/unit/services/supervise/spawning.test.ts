import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERSPECTIVES } from '../../../../src/services/context/perspectives.js';
import { fact } from '../../../../src/services/engine/deps.js';
import type { WorkerRow } from '../../../../src/core/state/rows.js';
import { checkSpawnLimits, recordLimit } from '../../../../src/services/supervise/limits.js';
import { reserveWorker, type SpawnRequest } from '../../../../src/services/supervise/reserve-worker.js';
import { resolveBase } from '../../../../src/services/supervise/resolve-base.js';
import { OrchestratorError } from '../../../../src/core/errors/error.js';
import type { SessionPlanInput } from '../../../../src/services/supervise/plan.js';
import { openStore } from '../../../../src/store/open-store.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession, type FakeSession } from '../../../support/fake-session.js';
import { sampleEvent, SESSION } from '../../../support/sample-events.js';

let rig: EngineRig;
let fake: FakeSession;
beforeEach(() => {
  rig = new EngineRig();
  fake = createFakeSession(rig, {
    plan: { limits: { max_workers: 2, total_workers: 3, spawns_per_minute: 2 } },
  });
});
afterEach(() => rig.close());

const REQUEST: SpawnRequest = {
  task: 'write it',
  perspective: 'implementer',
  file_scope: ['src'],
  pass_criteria: 'tests pass',
  extra_context: '',
  sender: 'lead',
};

function reserve(request: Partial<SpawnRequest> = {}, agent = 'scripted') {
  const wanted = { ...REQUEST, ...request };
  const perspective = PERSPECTIVES.find(({ name }) => name === wanted.perspective);
  if (perspective === undefined) throw new Error('no such perspective');
  return rig.store.transaction((tx) =>
    reserveWorker(fake.session, fake.live, tx, {
      ...{ request: wanted, perspective, agent, baseCommit: 'a1' },
      backend: 'tmux',
    }),
  );
}

const lose = (worker: WorkerRow) =>
  rig.store.append(fact('worker.lost', rig.subject(worker.worker_id), { reason: 'x' }));
const nextMinute = () => rig.clock.advance(60_000);
const refusal = (limit: string, value: number, max: number) =>
  expect.objectContaining({
    code: 'LIMIT_REACHED',
    params: expect.objectContaining({ limit, value, max }) as unknown,
  }) as Error;

describe('a reserved worker', () => {
  it('has number, branch, folder, run and first message at once', () => {
    const { worker, reused } = reserve();
    expect(reused).toBe(false);
    expect(worker).toMatchObject({
      worker_id: 'w01',
      state: 'starting',
      branch: `agentorchestr/${SESSION}/implementer-w01`,
      worktree: `${rig.folder}/worktrees/implementer-w01`,
      base_commit: 'a1',
      read_only: false,
      file_scope: ['src'],
    });
    const run = rig.run('w01');
    expect(run).toMatchObject({ number: 1, state: 'queued' });
    expect(worker.last_run_id).toBe(run.run_id);
    const [message] = rig.messages('w01');
    expect(message).toMatchObject({ kind: 'task', state: 'queued', run_id: run.run_id, sender: 'lead' });
    expect(message?.text).toContain(`WORKER_DONE[${run.nonce}]`);
    expect(message?.text).toContain(`${rig.folder}/workers/w01/done.flag`);
  });

  it('has a run that takes what its spawn asks for, and never longer than the session allows', () => {
    expect(rig.store.runs(SESSION, reserve().worker.worker_id)[0]).toMatchObject({
      ...{ timeout_ms: null, retries: 0 },
    });
    fake = createFakeSession(rig, { plan: { limits: { run_timeout_s: 60 } } });
    const limits = [
      { task: 'b' },
      { task: 'c', timeout_s: 30, retries: 2 },
      { task: 'd', timeout_s: 90 },
    ].map((request) => {
      const [run] = rig.store.runs(SESSION, reserve(request).worker.worker_id);
      return [run?.timeout_ms, run?.retries];
    });
    expect(limits).toEqual([
      [60_000, 0],
      [30_000, 2],
      [60_000, 0],
    ]);
  });

  it('never gets a number again that was given before', async () => {
    lose(reserve().worker);
    await nextMinute();
    expect(reserve().worker.worker_id).toBe('w02');
  });
});

describe('the same spawn again', () => {
  it('returns the worker that is still at it', () => {
    reserve();
    expect(reserve()).toMatchObject({ reused: true, worker: { worker_id: 'w01' } });
    expect(rig.count('worker.created', 'w01')).toBe(1);
  });

  it.each<[string, Partial<SpawnRequest>, string?]>([
    ['another task', { task: 'test it' }],
    ['another perspective', { perspective: 'tester' }],
    ['another scope', { file_scope: ['src', 'docs'] }],
    ['other criteria', { pass_criteria: '' }],
    ['another agent', {}, 'other'],
    ['a key of its own', { idempotency_key: 'second' }],
  ])('is not the same with %s', (_what, request, agent) => {
    reserve();
    expect(reserve(request, agent)).toMatchObject({ reused: false, worker: { worker_id: 'w02' } });
  });

  it.each(['run.succeeded', 'worker.lost'] as const)('is a new one after %s', (type) => {
    const { worker } = reserve();
    const subject = rig.subject('w01', worker.last_run_id ?? '');
    rig.store.append(
      type === 'worker.lost'
        ? fact(type, subject, { reason: 'x' })
        : fact('run.succeeded', subject, { summary: '' }),
    );
    expect(reserve()).toMatchObject({ reused: false, worker: { worker_id: 'w02' } });
  });

  it('replays by its key even when that worker is over, and refuses the key for other input', () => {
    const { worker } = reserve({ idempotency_key: 'k' });
    lose(worker);
    expect(reserve({ idempotency_key: 'k' })).toMatchObject({ reused: true, worker: { worker_id: 'w01' } });
    expect(reserve({ idempotency_key: 'k', sender: 'cli' })).toMatchObject({ reused: true });
    expect(() => reserve({ idempotency_key: 'k', task: 'other' })).toThrow(
      expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED' }),
    );
  });
});

describe('the limits of spawning', () => {
  it('count the live ones', async () => {
    reserve({ task: '1' });
    reserve({ task: '2' });
    await nextMinute();
    expect(() => reserve({ task: '3' })).toThrow(refusal('live workers', 2, 2));
    lose(rig.worker('w01'));
    expect(reserve({ task: '3' }).worker.worker_id).toBe('w03');
  });

  it('count all of the session, and say that this does not pass', async () => {
    for (const task of ['1', '2', '3']) {
      lose(reserve({ task }).worker);
      await nextMinute();
    }
    const spawn = () => reserve({ task: '4' });
    expect(spawn).toThrow(refusal('workers of one session', 3, 3));
    expect(spawn).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('used its workers up') as unknown }),
    );
  });

  it('count those of the last minute, to the millisecond', async () => {
    lose(reserve({ task: '1' }).worker);
    lose(reserve({ task: '2' }).worker);
    await rig.clock.advance(59_999);
    expect(() => reserve({ task: '3' })).toThrow(refusal('spawns per minute', 2, 2));
    await rig.clock.advance(1);
    expect(reserve({ task: '3' }).reused).toBe(false);
  });

  it('hold for a supervisor that comes after a crash, to the same numbers', async () => {
    reserve({ task: 'a' });
    await nextMinute();
    lose(reserve({ task: 'b' }).worker);
    lose(reserve({ task: 'c' }).worker);
    const again = openStore({ path: join(rig.folder, 'state.db'), clock: rig.clock });
    const refused = (what: Partial<SessionPlanInput['limits']> = {}) => {
      const { session, live } = createFakeSession(rig, {
        plan: { limits: { max_workers: 2, total_workers: 4, spawns_per_minute: 3, ...what } },
      });
      again.transaction((tx) => checkSpawnLimits(session, live, tx));
    };
    expect(() => refused()).not.toThrow();
    expect(() => refused({ max_workers: 1 })).toThrow(refusal('live workers', 1, 1));
    expect(() => refused({ total_workers: 3 })).toThrow(refusal('workers of one session', 3, 3));
    expect(() => refused({ spawns_per_minute: 2 })).toThrow(refusal('spawns per minute', 2, 2));
    again.close();
  });

  it('do not count the lead, nor what is returned again', async () => {
    reserve({ task: '1' });
    for (let time = 0; time < 5; time++) reserve({ task: '1' });
    expect(reserve({ task: '2' }).reused).toBe(false);
    await nextMinute();
    expect(reserve({ task: '2' }).reused).toBe(true);
  });

  it('leave nothing of a refused spawn but the record that it was refused', () => {
    reserve({ task: '1', idempotency_key: 'a' });
    reserve({ task: '2' });
    const before = rig.store.head();
    const thrown = errorOf(() => reserve({ task: '3', idempotency_key: 'b' }));
    expect(rig.store.head()).toBe(before);
    recordLimit(fake.session, thrown);
    expect(rig.events().at(-1)).toMatchObject({
      type: 'limit.reached',
      data: { limit: 'live workers', value: 2, max: 2, what: 'spawn_worker' },
    });
  });
});

function errorOf(work: () => unknown): OrchestratorError {
  try {
    work();
  } catch (error) {
    if (error instanceof OrchestratorError) return error;
  }
  throw new Error('nothing was refused');
}

describe('the commit that a worker starts from', () => {
  const base = async (asked: string | undefined, known: Readonly<Record<string, string>>) => {
    const { session } = createFakeSession(rig, {
      git: { resolve: async (_repository, ref) => known[ref] ?? null },
    });
    const row = rig.store.session(SESSION);
    if (row === null) throw new Error('no session');
    return resolveBase(session, row, asked);
  };
  const branch = `agentorchestr/${SESSION}/integration`;
  const integration = () => rig.store.append(sampleEvent('session.updated', { integration_branch: branch }));

  it('is the base of the session before there is an integration branch', async () => {
    expect(await base(undefined, { a1: 'a1' })).toBe('a1');
    expect(await base('integration', { a1: 'a1' })).toBe('a1');
  });

  it('is what is integrated so far', async () => {
    integration();
    expect(await base(undefined, { [branch]: 'i5', a1: 'a1' })).toBe('i5');
    expect(await base('integration', { [branch]: 'i5', integration: 'x' })).toBe('i5');
  });

  it('is the branch of another worker, by its id', async () => {
    const { worker } = reserve();
    expect(await base('w01', { [worker.branch ?? '']: 'b7', w01: 'x' })).toBe('b7');
  });

  it('is any branch or commit of the repository', async () => {
    expect(await base('feature/x', { 'feature/x': 'f9' })).toBe('f9');
  });

  it.each(['w09', 'no-such-branch'])('is refused in the words of who asked: %s', async (asked) => {
    await expect(base(asked, {})).rejects.toMatchObject({ code: 'REF_NOT_FOUND', params: { ref: asked } });
  });

  it('is refused for the lead, which has no branch of its own', async () => {
    await expect(base('lead', {})).rejects.toMatchObject({ code: 'REF_NOT_FOUND', params: { ref: 'lead' } });
  });
});
