import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { codex } from '../../../src/agents/codex.js';
import { agentFlags } from '../../../src/main/agentd-flags.js';
import { agentdHelp } from '../../../src/doors/cli/agentd-help.js';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

/** A stand-in for the program, which notes what it was started with. */
const STAND_IN = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
process.stdin.resume().on('end', () => {
  appendFileSync(__dirname + '/started', JSON.stringify(process.argv.slice(2)) + '\\n');
  for (const line of [
    { type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'hello' } },
    { type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } },
  ])
    console.log(JSON.stringify(line));
});
`;

const folder = mkdtempSync(join(tmpdir(), 'ao-stand-in-'));
const program = join(folder, 'codex');
let rig: GatewayRig | undefined;
afterEach(async () => {
  await rig?.close();
  rmSync(folder, { recursive: true, force: true });
}, GATEWAY_START_MS);

/** What it sees of the flags, before `exec`. */
async function beforeExec(flags: readonly string[], env: Record<string, string> = {}) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(program, STAND_IN, { mode: 0o755 });
  rig = new GatewayRig({ agents: [{ ...codex, binaries: [program] }], env });
  mkdirSync(rig.work);
  await rig.start(['--default-provider', 'codex', ...flags]);
  const run = await rig.say(await rig.session(), 'say hello');
  expect(await rig.over(run)).toMatchObject({ state: 'succeeded', result_text: 'hello' });
  const [first = ''] = readFileSync(join(folder, 'started'), 'utf8').split('\n');
  const argv = JSON.parse(first) as string[];
  return { run, argv: argv.slice(0, argv.indexOf('exec')) };
}

it(
  '[7] --codex-profile beats AGENTD_CODEX_PROFILE, and goes before exec',
  async () => {
    const { run, argv } = await beforeExec(['--codex-profile', 'mine'], { AGENTD_CODEX_PROFILE: 'theirs' });
    expect(argv).toEqual(['--profile', 'mine']);
    const { body } = await rig!.get(`/runs/${run}/diagnose`);
    expect(body).toMatchObject({ diagnostics: { codex_invocation: { profile: 'mine', extra_args: [] } } });
  },
  GATEWAY_START_MS,
);

it(
  '[8] repeated --codex-extra-arg, in both spellings, reach it in their order',
  async () => {
    const flags = ['--codex-extra-arg', 'a b', '--codex-extra-arg=-c', '--codex-extra-arg=x="y"'];
    const { argv } = await beforeExec(flags, { AGENTD_CODEX_PROFILE: 'theirs' });
    expect(argv).toEqual(['--profile', 'theirs', 'a b', '-c', 'x="y"']);
    const { body } = await rig!.get('/daemon/status');
    expect(body).toMatchObject({ codex: { profile: 'theirs', extra_args: ['a b', '-c', 'x="y"'] } });
  },
  GATEWAY_START_MS,
);

it(
  '[9] without them it is given none',
  async () => {
    expect((await beforeExec([])).argv).toEqual([]);
    expect(agentdHelp(agentFlags([codex]))).toContain('--codex-profile V');
  },
  GATEWAY_START_MS,
);
