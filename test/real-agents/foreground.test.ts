import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openPty } from '../e2e/cli/pty.js';
import { compiledRoot } from '../support/compiled.js';
import { call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { pathWithoutTmux } from '../support/no-tmux.js';
import { RealRig } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const WORKER = program('worker', says('# Task\nWrite b.txt'), function* () {
  const report = call('report_done', { summary: 'nothing to write' });
  // It is asked once whether it forgot to commit; on a busy machine its very first question may come before its tools.
  for (let tries = 0; tries < 4; tries++) if ((yield report).results[0]?.['accepted'] === true) break;
  yield say('Bye.');
});

it.each([
  { agent: 'claude', answers: ['Enter'], leave: '/exit' },
  { agent: 'codex', answers: [], leave: '/quit' },
])(
  '[111] $agent on the person’s own terminal begins with its task and proves it',
  async ({ agent, answers, leave }) => {
    rig = await RealRig.create({ rules: [WORKER] });
    const { env, repo, world } = rig;
    const launcher = join(await compiledRoot(), 'bin/agentorchestr.cjs');
    const args = ['--manual', '--task', 'Write b.txt', '--agent', agent, '--yes'];
    const pty = openPty({ env, repo, world, launcher }, args, {
      path: pathWithoutTmux(world.sandbox, { [agent]: rig.binaries[agent] ?? '' }),
    });
    for (const answer of answers) {
      await pty.shows(/trust/i);
      pty.keys(answer);
    }
    await pty.shows(/Bye\./);
    pty.type(leave);
    // Keys that come in one burst with an Enter are taken for a paste.
    await pty.shows(new RegExp(`[›❯>] ${leave}`));
    pty.keys('Enter');
    const code = await pty.ended();
    expect(code, pty.screen()).toBe(0);
    const [row] = rig.store.sessions(1);
    const [first] = rig.store
      .events({ after: 0, sessionId: row?.session_id ?? '', limit: 1_000 })
      .filter(({ type }) => type === 'message.submitted');
    expect(first?.evidence).toBe('protocol');
    expect(row).toMatchObject({ state: 'done', summary: 'nothing to write' });
    rmSync(join(world.sandbox.temp, `agentorchestr-${row?.session_id}`), { recursive: true });
  },
);
