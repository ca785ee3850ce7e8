import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt } from '../support/person.js';
import { RealRig } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const LEAD = program('lead', says('# Goal\n'), function* () {
  yield call('mark_goal_failed', { reason: 'it reached me' });
  yield say('Bye.');
});
const over = () => rig.event('end of session', ({ type }) => type === 'session.ended', 90_000);

/** A program in place of the agent that does something first. */
function before(rig_: RealRig, script: string): string {
  const path = join(rig_.world.sandbox.root, 'claude-wrapped');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('a Claude Code', () => {
  it('[C-14] that takes long to start gets its first text when it takes input, not before', async () => {
    rig = await RealRig.create({ rules: [LEAD] });
    const binary = before(rig, `echo '$ '; sleep 5; exec '${rig.binaries['claude']}' "$@"`);
    await rig.startWith('claude', { binaries: { claude: binary } });
    expect((await over()).data).toMatchObject({ summary: 'it reached me' });
    expect(rig.llm.prompts()).toHaveLength(1);
  });

  it('[C-14] that ends at once never has its text typed into what is left', async () => {
    rig = await RealRig.create();
    const binary = before(rig, 'echo "not logged in"; exit 3');
    await rig.startWith('claude', { binaries: { claude: binary } });
    expect((await over()).data).toMatchObject({ state: 'failed' });
    expect(rig.types()).not.toContain('message.typed');
  });

  it('[C-19] that is not logged in waits for a person, who sees what it shows', async () => {
    rig = await RealRig.create({ env: { ANTHROPIC_API_KEY: '' } });
    await rig.startWith('claude');
    const item = await personAt(rig).item('lead');
    expect(item).toMatchObject({ worker_id: 'lead', kind: 'login' });
  });
});
