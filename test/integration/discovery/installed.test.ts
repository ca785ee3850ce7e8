import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENTS } from '../../../src/agents/registry.js';
import type { Clock } from '../../../src/core/clock.js';
import { detectInstalled } from '../../../src/discovery/installed.js';
import { systemClock } from '../../../src/platform/clock.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

let sandbox: Sandbox;
let bin: string;

beforeEach(() => {
  sandbox = createSandbox();
  bin = sandbox.folder('bin');
});
afterEach(() => sandbox.close());

/** A program on the PATH of the test; `script` is its shell text. */
function install(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

/** PATH holds the fake programs alone: what this machine has must not matter. */
async function detect(names: readonly string[] | null = null, clock: Clock = systemClock) {
  const env = { ...sandbox.env, PATH: `:relative:${bin}` };
  const agents = await detectInstalled({ adapters: AGENTS, env, clock, names });
  return agents.map(({ adapter, binary, version }) => ({ name: adapter.name, binary, version }));
}

/** Time that passes only when told to. */
function handClock(): Clock & { pass(): void; waiting(): number } {
  const tasks = new Set<() => void>();
  return {
    now: () => 0,
    after: (_delay, task) => {
      tasks.add(task);
      return () => tasks.delete(task);
    },
    waiting: () => tasks.size,
    pass: () => {
      for (const task of [...tasks]) task();
    },
  };
}

describe('detection of installed agents', () => {
  it('[2] lists each agent on PATH with the first line of its version, best first', async () => {
    install('aider', 'echo "aider 0.86.1"; echo more');
    install('cursor', 'echo 1.7.52');
    install('goose', 'echo; echo " 1.9.0 "');
    install('claude', 'echo "2.1.332 (Claude Code) and much more than fits in a column"');
    install('codex', 'printf "\\033[1mcodex-cli 0.171.0\\033[0m\\n" >&2');
    expect(await detect()).toEqual([
      { name: 'claude', binary: join(bin, 'claude'), version: '2.1.332 (Claude Code) and much more than' },
      { name: 'codex', binary: join(bin, 'codex'), version: 'codex-cli 0.171.0' },
      { name: 'goose', binary: join(bin, 'goose'), version: '1.9.0' },
      { name: 'aider', binary: join(bin, 'aider'), version: 'aider 0.86.1' },
      { name: 'cursor', binary: join(bin, 'cursor'), version: '1.7.52' },
    ]);
  });

  it('[2] finds none where there is none', async () => {
    mkdirSync(join(bin, 'claude'));
    writeFileSync(join(bin, 'codex'), 'not executable');
    expect(await detect()).toEqual([]);
  });

  it('shows the version as unknown when the probe fails', async () => {
    install('amp', 'echo 1.0; exit 3');
    expect(await detect()).toEqual([{ name: 'amp', binary: join(bin, 'amp'), version: 'unknown' }]);
  });

  it('[5] waits for no probe longer than the others: all run at once and one limit ends them together', async () => {
    const started = join(sandbox.root, 'started');
    const hang = (name: string) => `echo ${name} >> ${started}; exec /bin/sleep 600`;
    install('claude', hang('claude'));
    install('gemini', hang('gemini'));
    install('goose', 'echo 1.9.0');
    const clock = handClock();
    const detected = detect(null, clock);
    await until(() => readIfThere(started).split('\n').filter(Boolean).sort().join() === 'claude,gemini');
    // The probe that answered took its limit back; only the two that hang still have one.
    await until(() => clock.waiting() === 2);
    clock.pass();
    expect(await detected).toMatchObject([
      { name: 'claude', version: 'unknown' },
      { name: 'gemini', version: 'unknown' },
      { name: 'goose', version: '1.9.0' },
    ]);
  });

  it('[5] is not held up by what a probe started and left behind with its output open', async () => {
    install('claude', `/bin/sleep 600 & echo $! > ${sandbox.root}/child; exec /bin/sleep 600`);
    sandbox.onClose(
      () => void process.kill(Number(readFileSync(`${sandbox.root}/child`, 'utf8')), 'SIGKILL'),
    );
    const clock = handClock();
    const detected = detect(null, clock);
    await until(() => readIfThere(`${sandbox.root}/child`).endsWith('\n'));
    clock.pass();
    expect(await detected).toMatchObject([{ name: 'claude', version: 'unknown' }]);
  });

  it('[6] takes gh for copilot only when it has the copilot extension', async () => {
    const gh = (extensions: string) =>
      `[ "$1" = extension ] && printf '${extensions}' || echo "gh version 2.83.0"`;
    install('gh', gh('gh dash\\tdlvhdr/gh-dash\\tv4.9.0\\n'));
    expect(await detect()).toEqual([]);
    bin = sandbox.folder('bin2');
    install('gh', gh('gh copilot\\tgithub/gh-copilot\\tv1.1.1\\n'));
    expect(await detect()).toEqual([
      { name: 'copilot', binary: join(bin, 'gh'), version: 'gh version 2.83.0' },
    ]);
  });

  it('[7] finds kiro under each of its names, the first one first', async () => {
    install('kiro-cli', 'echo kiro 1.0');
    expect(await detect()).toEqual([{ name: 'kiro', binary: join(bin, 'kiro-cli'), version: 'kiro 1.0' }]);
    install('kiro', 'echo kiro 2.0');
    expect(await detect()).toEqual([{ name: 'kiro', binary: join(bin, 'kiro'), version: 'kiro 2.0' }]);
  });

  it('asks each binary once in the life of the process', async () => {
    install('goose', `echo asked >> ${sandbox.root}/asked; echo 1.9.0`);
    await detect();
    await Promise.all([detect(), detect()]);
    expect(readFileSync(`${sandbox.root}/asked`, 'utf8')).toBe('asked\n');
  });

  it('finds the scripted agent only when it is asked for by name, and then always', async () => {
    install('goose', 'echo 1.9.0');
    expect((await detect()).map(({ name }) => name)).toEqual(['goose']);
    const [scripted] = await detect(['scripted']);
    expect(scripted).toMatchObject({
      name: 'scripted',
      version: expect.stringMatching(/^agentorchestr-scripted \d/),
    });
    expect((await detect(['goose', 'nobody'])).map(({ name }) => name)).toEqual(['goose']);
  });
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}
