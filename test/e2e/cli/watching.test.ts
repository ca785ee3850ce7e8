import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliRig, SILENT_LEAD, type Running } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

async function startSilent(...flags: string[]): Promise<{ started: Running; sessionId: string }> {
  const args = ['--goal', 'a goal', '--yes', '--no-attach', '--verify', 'true', ...flags];
  const started = rig.start([...args, ...rig.playing(SILENT_LEAD)]);
  const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  return { started, sessionId };
}

interface Listed {
  session_id: string;
  state: string;
  resumable: boolean;
}
const listed = async () =>
  (JSON.parse((await rig.run(['--list-sessions', '--json'])).stdout) as { sessions: Listed[] }).sessions;

describe('the viewer', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s pauses the session, waits for that and exits 2; it can be resumed',
    async (signal) => {
      const { started, sessionId } = await startSilent('--json');
      started.child.kill(signal);
      const { code, stdout, stderr } = await started.finished;
      expect(code).toBe(2);
      expect(stderr).toContain('pausing the session; once more to leave at once');
      expect(JSON.parse(stdout)).toMatchObject({
        session_id: sessionId,
        state: 'paused',
        reason: 'interrupted by the person',
      });
      expect(await listed()).toMatchObject([{ session_id: sessionId, state: 'paused', resumable: true }]);
      expect(rig.look((store) => store.lease(sessionId))).toBeNull();
      expect(rig.look((store) => store.worker(sessionId, 'lead')?.state)).toBe('exited');
    },
  );

  it('a second INT leaves at once with 130', async () => {
    const { started } = await startSilent();
    started.child.kill('SIGINT');
    await started.says(/pausing the session/);
    started.child.kill('SIGINT');
    expect((await started.finished).code).toBe(130);
  });

  it('says when the supervisor dies, exits 2, and the session is listed as crashed and resumable', async () => {
    const { started, sessionId } = await startSilent();
    process.kill(rig.control(sessionId).pid, 'SIGKILL');
    const { code, stderr, stdout } = await started.finished;
    expect(code).toBe(2);
    expect(stderr).toContain(`the supervisor of session ${sessionId} died`);
    expect(stdout).toContain(`session ${sessionId}  crashed`);
    expect(await listed()).toMatchObject([{ session_id: sessionId, state: 'crashed', resumable: true }]);
    expect((await rig.run(['--list-sessions'])).stdout).toMatch(
      /^\* {2}[0-9a-f]{8} {2}crashed {2}0\/0 done .* a goal\n\* goes on with agentorchestr --resume ID\n$/,
    );

    const verified = await rig.run(['verify', '--session', sessionId, '--json']);
    expect(verified.code).toBe(3);
    expect(JSON.parse(verified.stdout)).toMatchObject({ error: { code: 'SUPERVISOR_NOT_RUNNING' } });
    expect(JSON.parse((await rig.run(['status', '--json'])).stdout)).toMatchObject({ state: 'crashed' });
    expect((await rig.run(['log', '-f'])).stderr).toContain('nothing more will happen');
    await rig.killServerOf(sessionId);
  });
});

describe('verbs on a session', () => {
  it('reach the supervisor while one lives and the stored session afterwards', async () => {
    const { started, sessionId } = await startSilent();
    const following = rig.start(['log', '-f', '--json', '--worker', 'lead', sessionId.slice(0, 5)]);
    const reported = await rig.run(['report-progress', 'half way']);
    expect(reported).toMatchObject({ code: 0, stdout: 'logged  yes\n', stderr: `session ${sessionId}\n` });
    await started.says(/half way/);
    expect((await rig.run(['status'])).stdout).toContain('  now: half way');
    const spawned = await rig.run([
      'spawn-worker',
      'a task',
      '--file-scope',
      'a.txt',
      '--file-scope',
      'src',
      '--perspective',
      'tester',
      '--json',
    ]);
    expect(JSON.parse(spawned.stdout)).toMatchObject({
      worker_id: 'w01',
      perspective: 'tester',
      reused: false,
    });
    expect(rig.look((store) => store.worker(sessionId, 'w01')?.file_scope)).toEqual(['a.txt', 'src']);
    expect((await rig.run(['list-workers', '--session', sessionId.slice(0, 3)])).stdout).toMatch(
      /w01 +tester +scripted/,
    );
    const unknown = await rig.run(['kill-worker', 'w07', '--json']);
    expect(unknown.code).toBe(1);
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      error: { code: 'UNKNOWN_WORKER', hint: expect.stringContaining('w01') as string },
    });
    const wrong = await rig.run(['read-worker-output', 'seven']);
    expect(wrong).toMatchObject({ code: 64, stdout: '' });
    expect(wrong.stderr).toContain('error: "worker_id" is not valid: a worker id looks like w01');
    expect((await rig.run(['kill-worker', 'w01'])).stdout).toMatch(/killed +yes/);

    expect(await rig.run(['pause', sessionId])).toMatchObject({
      code: 0,
      stdout: `session ${sessionId} is paused\n`,
    });
    expect((await started.finished).code).toBe(2);
    const followed = (await following.finished).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string; worker_id: string });
    expect(followed.every((event) => event.worker_id === 'lead')).toBe(true);
    expect(followed.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['worker.created', 'worker.started', 'worker.ready', 'worker.exited']),
    );
    const stored = rig.look((store) => store.events({ after: 0, sessionId, workerId: 'lead', limit: 1_000 }));
    expect(followed.map(({ seq }) => seq)).toEqual(stored.map(({ seq }) => seq));

    expect((await rig.run(['list-workers', '--session', sessionId])).stdout).toMatch(
      /w01 +tester +scripted +killed/,
    );
    expect((await rig.run(['log', '--worker', 'w01'])).stdout).toMatch(
      /\d\d:\d\d:\d\d {2}w01 {3}created as tester \(scripted\): a task\n/,
    );
    expect((await rig.run(['log', '--worker', 'w09'])).stderr).toContain(
      'error: no worker "w09" in this session',
    );
    expect(await rig.run(['report-progress', 'late', '--session', sessionId])).toMatchObject({ code: 3 });
    expect(await rig.run(['report-progress', 'late'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no session is running') as string,
    });
  });
});
