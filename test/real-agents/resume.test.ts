import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { RealRig } from '../support/real-agents/rig.js';
import { until } from '../support/tmux.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const RULES = [
  program('lead', says('# Goal\n'), function* () {
    yield call('spawn_worker', { task: 'what colour is it?', perspective: 'implementer' });
    let { prompt } = yield say('I wait to be woken.');
    while (!prompt.includes('w01 (implementer) reports done')) ({ prompt } = yield say('I wait.'));
    yield call('integrate_worker', { worker_id: 'w01' });
    yield call('verify');
    yield call('mark_goal_done', { summary: 'it is blue' });
    yield say('Done.');
  }),
  program('colour', says('what colour'), function* () {
    yield bash('echo blue > colour.txt && git add -A && git commit -qm colour');
    // Cut off here; what it is told next comes after it.
    yield bash('sleep 300');
    yield bash('echo dark >> colour.txt && git commit -qam dark');
    yield call('report_done', { summary: 'it is dark blue' });
    yield say('Dark blue.');
  }),
];

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  'is paused': async () => {
    process.kill(rig.control.pid, 'SIGTERM');
    await rig.supervisorEnded();
  },
  'loses its supervisor and its tmux server (-9)': async () => {
    const server = Number(rig.tmux('display-message', '-p', '#{pid}'));
    await rig.crash();
    process.kill(server, 'SIGKILL');
    await until(() => !isThere(server), 'the end of the tmux server');
  },
};

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.each(['claude', 'codex'])('a session of %s that', (agent) => {
  it.each(Object.entries(WAYS))(
    '[73] %s goes on in the conversations that it had',
    async (_name, interrupt) => {
      rig = await RealRig.create({ rules: RULES });
      await rig.startWith(agent, { goal: 'Find the colour.', verify_commands: [], bypass_permissions: true });
      await until(
        () => rig.repo.git('log', '--branches', '--format=%s').split('\n').includes('colour'),
        'the first half',
        90_000,
      );
      await interrupt();
      await rig.takeUp();
      const ended = await rig.event('the end', ({ type }) => type === 'session.ended', 120_000);
      expect(ended.data).toMatchObject({ state: 'done', summary: 'it is blue' });
      const branch = `agentorchestr/${rig.sessionId}/integration`;
      expect(rig.repo.git('show', `${branch}:colour.txt`)).toBe('blue\ndark');
      // One conversation each, and the goal is not asked again.
      const opened = rig.events().filter(({ type }) => type === 'thread.opened');
      expect(opened.map(({ worker_id: id }) => id)).toEqual(['lead', 'w01']);
      expect(rig.llm.prompts().filter((prompt) => prompt.includes('# Goal\n'))).toHaveLength(1);
      expect(rig.llm.prompts().filter((prompt) => prompt.includes('what colour'))).toHaveLength(1);
    },
  );
});
