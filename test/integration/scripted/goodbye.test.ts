import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { newConversation } from '../../../src/scripted/conversation.js';
import { Dialogue, type Face } from '../../../src/scripted/dialogue.js';
import { parseOptions } from '../../../src/scripted/options.js';
import { parseScript } from '../../../src/scripted/script-load.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';
import { Outside, TOKEN } from './outside.js';

let outside: Outside;
let sandbox: Sandbox;
beforeEach(async () => {
  outside = new Outside();
  sandbox = createSandbox();
  await outside.open();
});
afterEach(async () => {
  await outside.close();
  await sandbox.close();
});

const nothing = () => undefined;
const FACE: Face = {
  ...{ say: nothing, print: nothing, note: nothing, activity: nothing, think: nothing, freeze: nothing },
  ...{ tool: () => nothing, denied: nothing, toldToGoOn: nothing, failed: nothing, interrupted: nothing },
  askPermission: null,
};

function dialogue(): Dialogue {
  const args = ['--script', 'x.yaml', '--hook-url', outside.hookUrl, '--token-env', 'TOKEN'];
  const options = parseOptions([...args, '--state', sandbox.folder('state')], { TOKEN });
  const script = parseScript('workers: []', 'x.yaml');
  return new Dialogue(
    { options, script, conversation: newConversation('worker', {}), env: {}, clock: systemClock, cwd: '/' },
    FACE,
    { leave: () => new Promise<never>(nothing), ignoreSignals: nothing },
  );
}

it('an end that comes while the conversation is being begun is told after the begin', async () => {
  const agent = dialogue();
  const begun = agent.begin();
  await agent.goodbye();
  await begun;
  expect(outside.hookNames()).toEqual(['SessionStart', 'SessionEnd']);
});

it('a conversation that never began has no end', async () => {
  await dialogue().goodbye();
  expect(outside.hookNames()).toEqual([]);
});
