import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InteractiveLaunch } from '../../../../src/agents/contract.js';
import { scripted } from '../../../../src/agents/scripted.js';
import { compiledRoot } from '../../../support/compiled.js';
import { createRig, type Recorder, type Rig } from '../../../support/recorder/rig.js';
import { arrivesAs, textOfSize, TORTURE_TEXTS } from '../../../support/torture-texts.js';
import { Outside, TOKEN } from '../../scripted/outside.js';
import { hashOf } from '../../../../src/platform/ids.js';

const launch = scripted.interactive as InteractiveLaunch;
let rig: Rig;
let agent: Recorder;
const outside = new Outside();

beforeAll(async () => {
  rig = await createRig({ env: { RIG_TOKEN: TOKEN } });
  await outside.open();
  rig.sandbox.onClose(() => outside.close());
  const script = join(rig.sandbox.root, 'script.yaml');
  writeFileSync(script, 'workers: [{ steps: [{ say: taken }] }]');
  const argv = launch.argv({
    ...{
      binary: join(await compiledRoot(), 'bin/agentorchestr-scripted.cjs'),
      role: 'worker',
      bypassPermissions: true,
      isRoot: false,
      hashOf,
    },
    ...{
      directory: rig.sandbox.folder('private'),
      worktree: rig.sandbox.folder('work'),
      resumeThreadId: null,
    },
    ...{ mcpUrl: outside.mcpUrl, hookUrl: outside.hookUrl, tokenVariable: 'RIG_TOKEN', extra: { script } },
  });
  agent = await rig.startProgram(argv, launch);
  await agent.agent.ready().catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await agent.agent.screen()}`);
  });
}, 180_000);
afterAll(() => rig.close());

const prompts = () =>
  outside.hooks.filter((body) => body.hook_event_name === 'UserPromptSubmit').map((body) => body['prompt']);

describe('the agent that ships with us', () => {
  it('[C-11] [50] gets the whole table in order, each text once, proved by its screen alone', async () => {
    const texts = [...TORTURE_TEXTS, { name: 'a large text', text: textOfSize(60_000) }];
    const outcomes = await Promise.all(
      texts.map(async (entry) => ({ name: entry.name, ...(await agent.send(entry.text).delivery) })),
    );
    expect(outcomes.filter(({ outcome }) => outcome !== 'submitted')).toEqual([]);
    expect(prompts()).toEqual(texts.map(arrivesAs));
  }, 120_000);
});
