import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, until } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

const WAIT = ['/bin/sh', '-c', 'echo up; exec sleep 1000'];

describe('starting an agent', () => {
  test('puts the lead into the first pane and tells the pid of its own program', async () => {
    const world = createTmuxWorld(sandbox);
    const { socket, live } = await world.backend.open();
    expect(live).toEqual([]);
    expect(socket).toBe(join(sandbox.sockets, `tmux-${process.getuid?.()}`, world.socketName));
    const started = await world.backend.start(world.spec('lead', WAIT));
    expect(started).toMatchObject({ workerId: 'lead', paneId: '%0', window: 'agentorchestr' });
    await until(
      () => readFileSync(`/proc/${started.pid}/cmdline`, 'utf8') === 'sleep\u00001000\u0000',
      'the pid is the agent',
    );
    expect(
      await world.panes(
        '#{session_name} #{window_name} #{pane_id} #{window_width}x#{window_height} #{@ao_worker}',
      ),
    ).toEqual([`agentorchestr-${world.sessionId} agentorchestr %0 240x70 lead`]);
    await until(async () => (await world.backend.read('lead', 10)) === 'up', 'its text is read');
  });

  test('passes every argument as it is, with no shell in between, in the right folder [C-44]', async () => {
    const world = createTmuxWorld(sandbox, { env: { ...sandbox.env, SHELL: '/bin/false' } });
    await world.backend.open();
    const cwd = join(sandbox.home, "it's a $HOME `folder` ü");
    mkdirSync(cwd);
    const argv = [
      'a b',
      "it's",
      '$HOME',
      '`id`',
      'line\nbreak',
      '',
      '*',
      '"; exit 9',
      '日本 🎉',
      'x'.repeat(90_000),
    ];
    const script = 'printf "%s\\0" "$@" >args; pwd -P >where';
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', script, 'sh', ...argv], { cwd }));
    expect(await world.exit('w01')).toMatchObject({ status: 0 });
    expect(readFileSync(join(cwd, 'args'), 'utf8').split('\0')).toEqual([...argv, '']);
    expect(readFileSync(join(cwd, 'where'), 'utf8')).toBe(`${cwd}\n`);
  });

  test('refuses what cannot start and leaves nothing of it', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    const cases = [
      {
        spec: world.spec('w01', ['x'], { cwd: join(sandbox.home, 'nowhere') }),
        problem: /nowhere cannot be entered/,
      },
      { spec: world.spec('w02', ['echo', 'x'.repeat(110_000)]), problem: /110000 bytes/ },
    ];
    for (const { spec, problem } of cases) {
      await expect(world.backend.start(spec)).rejects.toMatchObject({
        code: 'SPAWN_FAILED',
        params: { worker: spec.workerId, problem: expect.stringMatching(problem) },
      });
      expect(existsSync(spec.directory) ? readdirSync(spec.directory) : []).toEqual([]);
    }
    expect(await world.panes('#{@ao_worker}')).toEqual(['lead']);
  });

  test('an agent whose process could not be noted down never runs, and its pane is gone again', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    const spec = world.spec('w01', ['/bin/sh', '-c', 'touch "$HOME/ran"; exec sleep 1000']);
    // Where the launcher writes the pid, a link leads nowhere.
    mkdirSync(spec.directory, { recursive: true, mode: 0o700 });
    symlinkSync(join(sandbox.home, 'nowhere', 'pid'), join(spec.directory, `w01.${spec.attemptId}.pid`));
    await expect(world.backend.start(spec)).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      params: { problem: expect.stringContaining('status') },
    });
    expect(existsSync(join(sandbox.home, 'ran'))).toBe(false);
    expect(await world.panes('#{@ao_worker} #{pane_width}x#{pane_height}')).toEqual(['lead 240x69']);
  });

  test('[113] every file is for the user alone', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const spec = world.spec('w01', ['/bin/sh', '-c', 'umask; exit 0'], {
      env: { AGENTORCHESTR_TOKEN: 'secret' },
    });
    await world.backend.start(spec);
    expect((await world.exit('w01')).outputTail).toBe(process.umask().toString(8).padStart(4, '0'));
    const modes = [spec.directory, ...readdirSync(spec.directory).map((name) => join(spec.directory, name))];
    const run = join(sandbox.root, 'run', world.sessionId);
    modes.push(run, ...readdirSync(run, { recursive: true }).map((name) => join(run, String(name))));
    expect(modes.length).toBeGreaterThan(5);
    for (const path of modes) expect({ path, open: statSync(path).mode & 0o077 }).toEqual({ path, open: 0 });
  });
});

describe('the environment of agents', () => {
  const DUMP = ['/bin/sh', '-c', 'env -0 >"$HOME/env"; stty -a >/dev/null && echo tty'];
  const dumped = () =>
    new Map(
      readFileSync(join(sandbox.home, 'env'), 'utf8')
        .split('\0')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );

  test('[C-35] has the user’s keys, not the guards, not our secrets, and what the start adds', async () => {
    const env = {
      ...sandbox.env,
      SOME_API_KEY: "k'1 $x",
      IN_AGENT: '1',
      AGENTORCHESTR_SECRET: 's',
      TMUX: '/nowhere,1,1',
      TMUX_PANE: '%7',
    };
    const world = createTmuxWorld(sandbox, { env, guardVariables: ['IN_AGENT'] });
    await world.backend.open();
    const spec = world.spec('w01', DUMP, { env: { AGENTORCHESTR_TOKEN: "t'\n$" } });
    await world.backend.start(spec);
    await world.exit('w01');
    const seen = dumped();
    expect(seen.get('SOME_API_KEY')).toBe("k'1 $x");
    expect(seen.get('AGENTORCHESTR_TOKEN')).toBe("t'\n$");
    expect(seen.get('AGENTORCHESTR_ATTEMPT')).toBe(spec.attemptId);
    for (const name of ['IN_AGENT', 'AGENTORCHESTR_SECRET', 'AGENTORCHESTR_HOME', 'TMUX', 'TMUX_PANE'])
      expect(seen.has(name), name).toBe(false);
    expect(readdirSync(seen.get('TMUX_TMPDIR') ?? '')).toEqual([]);
  });

  test('[C-35] agents started after a new supervisor came get its environment, not that of the server’s start', async () => {
    const world = createTmuxWorld(sandbox, { env: { ...sandbox.env, A: '1' } });
    await world.backend.open();
    await world.backend.close({ destroy: false });
    const next = world.reopen({ env: { ...sandbox.env, A: '2 #{pane_id} $x', NEW: 'yes' } });
    await next.backend.open();
    await next.backend.start(next.spec('w01', DUMP));
    await next.exit('w01');
    expect([dumped().get('A'), dumped().get('NEW')]).toEqual(['2 #{pane_id} $x', 'yes']);
  });

  test('[C-34] works under LC_ALL=C, glyphs in names and output included', async () => {
    const world = createTmuxWorld(sandbox, { env: { ...sandbox.env, LC_ALL: 'C', LANG: 'C' } });
    await world.backend.open();
    const cwd = join(sandbox.home, 'tüb\tingen');
    mkdirSync(cwd);
    await world.backend.start(
      world.spec('w01', ['/bin/sh', '-c', "printf 'wide 日本 🎉 é\\n'; exit 3"], { cwd, label: 'w01 · é' }),
    );
    expect(await world.exit('w01')).toMatchObject({ status: 3, outputTail: 'wide 日本 🎉 é' });
    expect(await world.panes('#{@ao_label}')).toEqual(['', 'w01 · é']);
  });
});

test('[C-27] nothing in the user’s tmux configuration has an effect', async () => {
  writeFileSync(
    join(sandbox.home, '.tmux.conf'),
    [
      'set -g base-index 1',
      'set -g pane-base-index 1',
      'set -g renumber-windows on',
      'set -g default-command "exec /bin/false"',
      'set -g remain-on-exit off',
      'set -g history-limit 5',
      'set -g automatic-rename on',
      'set -g prefix C-a',
      'set -g mode-keys vi',
      'set -g @plugin nothing',
      'run-shell "touch $HOME/config-was-read"',
      'this is { a syntax error',
    ].join('\n'),
  );
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  await world.backend.start(world.spec('lead', WAIT));
  await world.backend.start(
    world.spec('w01', [
      '/bin/sh',
      '-c',
      'i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i+1)); done; exit 4',
    ]),
  );
  expect((await world.exit('w01')).status).toBe(4);
  expect((await world.backend.read('w01', 1000)).split('\n')).toHaveLength(200);
  expect(await world.panes('#{window_index}.#{pane_index} #{window_name} #{pane_in_mode}')).toEqual([
    '0.0 agentorchestr 0',
    '0.1 agentorchestr 0',
  ]);
  expect(existsSync(join(sandbox.home, 'config-was-read'))).toBe(false);
});

test('a configuration of the user’s choice is read, its mistakes harm nothing, and what we rest on stays', async () => {
  const userConfig = join(sandbox.home, 'mine.conf');
  writeFileSync(
    userConfig,
    'set -g status-position top\nset -g remain-on-exit off\nset -g base-index 1\nset -g no-such-option 1\n',
  );
  const world = createTmuxWorld(sandbox, { userConfig });
  await world.backend.open();
  await world.backend.start(world.spec('lead', WAIT));
  const client = await world.look();
  const shown = await client.command(
    'display-message',
    '-p',
    '#{status-position} #{remain-on-exit} #{base-index} #{pane_in_mode}',
  );
  expect(shown).toEqual(['top on 0 0']);
});
