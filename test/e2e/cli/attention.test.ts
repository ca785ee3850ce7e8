import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttentionItem } from '../../../src/services/supervise/attention.js';
import { openPty } from './pty.js';
import { CliRig, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const ASKING = `lead:
  - match: '^# Goal$'
    steps:
      - call: spawn_worker
        with: { task: Ask first, perspective: implementer }
  - contains: reports done
    steps:
      - call: mark_goal_failed
        with: { reason: that was all }
  - contains: waits
    steps: [{ end: true }]
workers:
  - steps:
      - permission: may I run rm?
      - permission: may I run it again?
        go_on: true
      - write: b.txt
        content: "b\\n"
      - commit: b
      - report_done: asked and did it
`;

async function waiting(): Promise<AttentionItem> {
  for (const deadline = Date.now() + 60_000; ;) {
    const { code, stdout, stderr } = await rig.run(['attention', '--json']);
    const items = code === 0 ? (JSON.parse(stdout) as { items: AttentionItem[] }).items : [];
    if (items[0] !== undefined) return items[0];
    if (Date.now() > deadline) throw new Error(`nothing waits:\n${stdout}${stderr}`);
  }
}

describe('what waits for the person', () => {
  it('[C-19] is told by the viewer, listed with its command, and answered by that; another prompt is not', async () => {
    const started = rig.start([
      '--goal',
      'a goal',
      '--yes',
      '--no-attach',
      '--verify',
      'true',
      ...rig.playing(ASKING),
    ]);
    const [, sessionId = ''] = await started.says(
      /1 waiting: w01 permission; to answer: agentorchestr attention (\w+)/,
    );
    const first = await waiting();
    expect(first).toMatchObject({ worker_id: 'w01', kind: 'permission', text: 'may I run rm?', via: 'hook' });
    const shown = (await rig.run(['attention', sessionId])).stdout;
    const command = /1\. Yes {2}agentorchestr (answer w01 --choice 1 --prompt-hash \S+ --session \S+)/.exec(
      shown,
    );
    expect((await rig.run(['status', sessionId])).stdout).toContain('1 waiting: w01 permission');

    const unnamed = await rig.run(['answer', 'w01', '--choice', '1']);
    expect([unnamed.code, unnamed.stderr]).toEqual([64, expect.stringContaining('--prompt-hash is missing')]);
    const wrong = await rig.run(['answer', 'w01', '--choice', '3', '--prompt-hash', first.prompt_hash ?? '']);
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining('its choices: 1 Yes, 2 No')]);
    const nobody = await rig.run(['answer', 'w07', '--choice', '1', '--prompt-hash', 'x']);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('workers are:')]);
    const right = await rig.run((command?.[1] ?? '').split(' '));
    expect([right.code, right.stdout]).toEqual([0, 'w01 is answered\n']);

    await started.says(/w01: waits \(permission\): may I run it again\?/);
    const late = await rig.run((command?.[1] ?? '').split(' '));
    expect(late.code).toBe(1);
    expect(late.stderr).toMatch(
      /nothing was answered: may I run it again\?\nhint: .*prompt hash is [0-9a-f]{12}/,
    );

    const pty = openPty(rig, ['answer', 'w01', '--choice', '2', '--message', 'enough']);
    await pty.shows(/w01 waits \(permission\):\n {2}\| may I run it again\?\nAnswer 2\. No\? \[y\/N\]/);
    pty.type('y');
    pty.keys('Enter');
    expect(await pty.ended()).toBe(0);
    const { code } = await started.finished;
    expect(code).toBe(2);
    const answers = rig.look((store) =>
      store
        .events({ after: 0, sessionId, limit: 10_000 })
        .flatMap((event) => (event.type === 'permission.answered' ? [event.data] : [])),
    );
    expect(answers).toEqual([
      { answer: 'Yes', by: 'person' },
      { answer: 'No', by: 'person' },
    ]);
  });

  it('is asked for by session when several run', async () => {
    const ids: string[] = [];
    for (const goal of ['one', 'two']) {
      const args = ['--goal', goal, '--yes', '--no-attach', '--verify', 'true', ...rig.playing(SILENT_LEAD)];
      ids.push((await rig.start(args).says(/session ([0-9a-f]{8}) runs/))[1] ?? '');
    }
    const unclear = await rig.run(['attention']);
    expect(unclear.code).toBe(64);
    for (const id of ids) expect(unclear.stderr).toContain(id);
    expect(await rig.run(['attention', ids[0] ?? ''])).toMatchObject({
      code: 0,
      stdout: 'nothing waits for you\n',
    });
  });
});
