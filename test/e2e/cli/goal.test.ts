import { lstatSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type * as ProgramModule from '../../../src/doors/cli/program.js';
import type * as CliHostModule from '../../../src/main/cli-host.js';
import { fingerprint } from '../../support/repo.js';
import { compiledModules } from '../../support/compiled.js';
import { fakeTerminal } from '../../unit/cli/fake-host.js';
import { CliRig, DONE_LEAD, FAILED_LEAD, ONE_WORKER } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

interface Report {
  session_id: string;
  state: string;
  summary: string;
  branch: string;
  workers: { worker_id: string; state: string; integrated: boolean }[];
  verify: { state: string; commands: { command: string; exit_code: number }[] };
  merge_command: string;
  applied: string | null;
}

const VERIFIED = ['--yes', '--no-attach', '--verify', 'true'];

describe('a goal without panes', () => {
  it('[33] [37] [38] done: exit 0, heartbeat by change, summary, merge command; the tmux session stays', async () => {
    const args = [
      '--goal',
      'Write b',
      '--yes',
      '--no-attach',
      '--verify',
      'test -f b.txt',
      ...rig.playing(ONE_WORKER),
    ];
    const { code, stdout, stderr } = await rig.run(args);
    expect(code).toBe(0);
    const [sessionId = ''] = rig.sessionIds();

    expect(stderr).toContain('base     main@');
    expect(stderr).toContain('verify   test -f b.txt   (--verify)');
    expect(stderr).toContain('permission prompts are off for agents (--no-bypass');
    const beats = stderr.split('\n').filter((line) => /^\d\d:\d\d:\d\d /.test(line));
    const words = beats.map((line) => line.slice('00:00:00 '.length));
    expect(words.length).toBeGreaterThan(3);
    expect(words.filter((line, index) => line === words[index - 1])).toEqual([]);
    expect(words.every((line) => line.startsWith(`${sessionId}  `) && line.length < 150)).toBe(true);
    expect(words).toContain(`${sessionId}  1 done  w01: b.txt written`);

    expect(stdout).toContain(`session ${sessionId}  done\n  b.txt is there\n`);
    expect(stdout).toMatch(/w01 {2}implementer {2}scripted {2}done {2}integrated {2}b\.txt written/);
    expect(stdout).toMatch(/verify {3}passed at [0-9a-f]{7}\n {2}exit 0 .* test -f b\.txt/);
    expect(stdout).toContain(`merge   git merge agentorchestr/${sessionId}/integration`);
    expect(stdout).toContain(`panes   agentorchestr attach ${sessionId}`);

    const socket = rig.look((store) => store.session(sessionId)?.tmux_socket ?? '');
    const places = await tmux(socket, [
      'list-panes',
      '-a',
      '-F',
      '#{session_name} #{window_index}:#{window_name} #{pane_index}',
    ]);
    expect(places.split('\n')[0]).toBe(`agentorchestr-${sessionId} 0:agentorchestr 0`);
    rig.repo.git('merge', '--quiet', `agentorchestr/${sessionId}/integration`);
    expect(rig.repo.read('b.txt')).toBe('b\n');
  });

  it('[25] --json prints one object with the result and nothing else on stdout', async () => {
    const args = [
      '--goal',
      'Write b',
      '--json',
      '--yes',
      '--verify',
      'test -f b.txt',
      '--apply',
      '--kill-tmux',
      ...rig.playing(ONE_WORKER),
    ];
    const { code, stdout } = await rig.run(args);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({
      state: 'done',
      summary: 'b.txt is there',
      branch: `agentorchestr/${report.session_id}/integration`,
      merge_command: null, // it is home already
      workers: [{ worker_id: 'w01', state: 'done', integrated: true }],
      verify: { state: 'passed', commands: [{ command: 'test -f b.txt', exit_code: 0 }] },
    });
    expect(report.applied).toMatch(/\S/);
    expect(rig.repo.read('b.txt')).toBe('b\n');
    expect(
      readdirSync(rig.world.sandbox.sockets, { recursive: true }).filter((name) =>
        String(name).includes('agentorchestr'),
      ),
    ).toEqual([]);
  });

  it('[34] failed: exit 2, and the reason is the summary', async () => {
    const { code, stdout } = await rig.run(['--goal', 'x', ...VERIFIED, ...rig.playing(FAILED_LEAD)]);
    expect(code).toBe(2);
    expect(stdout).toMatch(/session [0-9a-f]{8} {2}failed\n {2}it cannot be done/);
  });

  it('a session whose time is used up exits 2 as timeout', async () => {
    const silent = 'lead:\n  - steps: [{ silence: true }]\n';
    const args = [
      '--goal',
      'x',
      ...VERIFIED,
      '--session-timeout',
      '1',
      '--kill-tmux',
      ...rig.playing(silent),
    ];
    const { code, stdout } = await rig.run(args);
    expect(code).toBe(2);
    expect(stdout).toMatch(/session [0-9a-f]{8} {2}timeout/);
  });
});

describe('the goal', () => {
  it('[10] [11] [20] of a file, in UTF-8, ends the prompt of the lead of the project named', async () => {
    const other = rig.world.repo('other');
    rig.file('home/goal.md', '\n Grüße an alle — "quoted" $(touch X)\n\n');
    const args = [
      '--goal-file=~/goal.md',
      '--project',
      '../other',
      ...VERIFIED,
      '--json',
      ...rig.playing(DONE_LEAD),
    ];
    const { stdout } = await rig.run(args);
    const { session_id: sessionId, state } = JSON.parse(stdout) as Report;
    expect(state).toBe('done');
    const prompt = readFileSync(join(sessionFolder(sessionId), 'supervisor_prompt.txt'), 'utf8');
    expect(prompt.trimEnd().endsWith('Grüße an alle — "quoted" $(touch X)')).toBe(true);
    const row = rig.look((store) => store.session(sessionId));
    expect(row).toMatchObject({
      project: realpathSync(other.path),
      repository: realpathSync(other.repository),
    });
    expect(rig.repo.git('branch', '--list', 'agentorchestr/*')).toBe('');
    expect(other.git('branch', '--list', 'agentorchestr/*')).not.toBe('');
  });

  it.each([
    { name: 'missing', content: null, problem: 'it does not exist' },
    { name: 'not UTF-8', content: Buffer.from([0x68, 0xff, 0xfe]), problem: 'it is not valid UTF-8' },
  ])('[11] in a file that is $name exits 1 and names the path', async ({ content, problem }) => {
    const path = content === null ? join(rig.world.sandbox.root, 'goal.md') : rig.file('goal.md', content);
    const { code, stderr } = await rig.run(['--goal-file', path]);
    expect(code).toBe(1);
    expect(stderr).toContain(`error: cannot read ${path}: ${problem}`);
  });

  it('[12] above 64 KiB is refused without a session; above 8 KiB it is warned of and runs', async () => {
    const tooLarge = rig.file('large.md', 'x'.repeat(64 * 1024 + 1));
    const refused = await rig.run(['--goal-file', tooLarge, ...VERIFIED, ...rig.playing(DONE_LEAD)]);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('error: the goal is 65537 bytes; the limit is 65536');
    expect(rig.sessionIds()).toEqual([]);

    const long = rig.file('long.md', 'ä'.repeat(4 * 1024 + 1));
    const { code, stderr } = await rig.run(['--goal-file', long, ...VERIFIED, ...rig.playing(DONE_LEAD)]);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: the goal is long (8194 bytes)');
  });
});

describe('trust and consent without a terminal', () => {
  it('refuses a project nobody trusts, and one whose own commands nobody agreed to, before anything runs', async () => {
    rig.repo.commit('verify', { 'PROJECT.md': '## How to verify\n\n- test: touch ran\n' });
    const before = fingerprint(rig.repo.path, rig.repo.repository);
    const args = ['--goal', 'x', '--no-attach', ...rig.playing(DONE_LEAD)];
    const untrusted = await rig.run(args);
    expect(untrusted.code).toBe(4);
    expect(untrusted.stderr).toMatch(/error: .* is not a trusted project yet\nhint: .*--yes/);

    const agreed = await rig.run([...args, '--yes', '--json']);
    expect(JSON.parse(agreed.stdout)).toMatchObject({
      state: 'done',
      verify: { commands: [{ command: 'touch ran' }] },
    });
    expect(agreed.stderr).toContain('Trust this project? yes (--yes)');
    expect(fingerprint(rig.repo.path, rig.repo.repository)).toEqual(before);

    rig.repo.commit('another', { 'PROJECT.md': '## How to verify\n\n- test: touch other\n' });
    const changed = await rig.run(args);
    expect(changed.code).toBe(4);
    expect(changed.stderr).toContain(
      "error: commands from the project's files need your consent: touch other",
    );
    expect(rig.sessionIds()).toHaveLength(1);
  });

  it('needs no consent for --verify, and uses PROJECT.md before it, saying so', async () => {
    rig.repo.commit('verify', { 'PROJECT.md': '## How to verify\n\n- test: test -f a.txt\n' });
    const { stdout, stderr } = await rig.run([
      '--goal',
      'x',
      '--json',
      ...VERIFIED,
      ...rig.playing(DONE_LEAD),
    ]);
    expect(stderr).toContain('warning: --verify is not used: PROJECT.md says how to verify');
    expect((JSON.parse(stdout) as Report).verify.commands.map(({ command }) => command)).toEqual([
      'test -f a.txt',
    ]);
  });
});

describe('files of ours', () => {
  it('[113] in shared folders are readable by their owner only', async () => {
    const { stdout } = await rig.run(['--goal', 'x', '--json', ...VERIFIED, ...rig.playing(ONE_WORKER)]);
    const { session_id: sessionId } = JSON.parse(stdout) as Report;
    const ours = [
      sessionFolder(sessionId),
      join(rig.paths.data, 'sessions'),
      rig.paths.database,
      join(rig.paths.data, 'trust.json'),
    ];
    const open = ours
      .flatMap(below)
      .filter((path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0);
    expect(ours.flatMap(below).length).toBeGreaterThan(10);
    expect(open).toEqual([]);
  });

  it(
    '[114] a session folder that is there already as a link is refused before anything starts',
    { timeout: 180_000 },
    async () => {
      const root = await compiledModules();
      const load = <Module>(path: string) => import(join(root, 'dist', path)) as Promise<Module>;
      const { createCliHost } = await load<typeof CliHostModule>('main/cli-host.js');
      const { runProgram } = await load<typeof ProgramModule>('doors/cli/program.js');
      const terminal = fakeTerminal();
      symlinkSync(rig.world.sandbox.folder('elsewhere'), sessionFolder('deadbeef'));
      const host = { ...createCliHost({ env: rig.env, terminal }), newSessionId: () => 'deadbeef' };
      const args = ['--goal', 'x', '--project', rig.repo.path, ...VERIFIED, ...rig.playing(DONE_LEAD)];
      expect(await runProgram(host, args)).toBe(4);
      expect(terminal.said.err).toContain(
        `error: ${sessionFolder('deadbeef')} is not safe to use: it is a symbolic link`,
      );
      expect(rig.sessionIds()).toEqual([]);
      expect(readdirSync(join(rig.world.sandbox.root, 'elsewhere'))).toEqual([]);
    },
  );
});

function sessionFolder(sessionId: string): string {
  return join(rig.world.sandbox.temp, `agentorchestr-${sessionId}`);
}

function below(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path).flatMap((name) => below(join(path, name)))];
}

async function tmux(socket: string, args: string[]): Promise<string> {
  const { runProcess } = await import('../../../src/platform/process.js');
  return (await runProcess('tmux', ['-S', socket, ...args], { env: rig.env, timeoutMs: 10_000 })).stdout;
}
