import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliRig, DONE_LEAD, FAILED_LEAD } from './rig.js';

let rig: CliRig;
let sessionId = '';
let failedId = '';
beforeAll(async () => {
  rig = await CliRig.create();
  const goal = ['--goal', 'x', '--yes', '--no-attach', '--kill-tmux', '--verify', 'true'];
  const { code } = await rig.run([...goal, ...rig.playing(DONE_LEAD)]);
  if (code !== 0) throw new Error(`the goal ended with ${code}`);
  [sessionId = ''] = rig.sessionIds();
  await rig.run([...goal, ...rig.playing(FAILED_LEAD)]);
  failedId = rig.sessionIds().find((id) => id !== sessionId) ?? '';
});
afterAll(() => rig.close());

/** What bash would offer for the last of `words`, by the script that the program prints. */
function offered(program: 'agentorchestr' | 'agentctl', ...words: string[]): string[] {
  const folder = rig.world.sandbox.folder('bin');
  const launcher = join(rig.root, `bin/${program}.cjs`);
  const path = join(folder, program);
  if (spawnSync('test', ['-e', path]).status !== 0) symlinkSync(launcher, path);
  const script = [
    `eval "$(${program} completion bash)"`,
    'COMP_WORDS=("$@")',
    'COMP_CWORD=$(($# - 1))',
    `_${program} 2>/dev/null`,
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  const env = { ...rig.env, PATH: `${folder}:${rig.env['PATH'] ?? ''}` };
  const text = execFileSync('bash', ['--norc', '-c', script, 'bash', program, ...words], {
    env,
    encoding: 'utf8',
  });
  return text.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it('offers commands, flags and the words that a place takes', () => {
    expect(offered('agentorchestr', 'sta')).toEqual(['status']);
    expect(offered('agentorchestr', 'status', '--w')).toEqual(['--watch']);
    expect(offered('agentorchestr', 'config', 'set', 'limits.max')).toEqual(['limits.max_workers']);
    expect(offered('agentorchestr', 'gateway', 'session', 'cr')).toEqual(['create']);
    expect(offered('agentctl', '--format', 'js')).toEqual(['json', 'jsonl']);
  });

  it('asks the program for sessions and agents', () => {
    expect(offered('agentorchestr', 'status', '')).toEqual([failedId, sessionId]);
    expect(offered('agentorchestr', 'status', sessionId.slice(0, 7))).toEqual([sessionId]);
    expect(offered('agentorchestr', '--resume', '')).toEqual([failedId]);
    expect(offered('agentorchestr', '--agents', 'script')).toEqual(['scripted']);
    expect(offered('agentorchestr', 'status', sessionId, '')).toEqual([]);
  });

  it('is silent where no daemon answers', () => {
    expect(offered('agentctl', 'session', 'get', '')).toEqual([]);
  });
});

it('refuses a shell that it does not know, and names those that it does', async () => {
  const { code, stdout, stderr } = await rig.run(['completion', 'ksh']);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain('no completion for "ksh"');
  expect(stderr).toContain('agentorchestr completion fish');
});
