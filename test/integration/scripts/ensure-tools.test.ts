import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = resolve(import.meta.dirname, '../../../scripts/ensure-tools.sh');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ensure-tools-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A program on the PATH of the script that writes its arguments to a file and prints `output`. */
async function program(name: string, output = ''): Promise<void> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\necho "$@" >> '${folder}/${name}.calls'\necho '${output}'\n`);
  await chmod(path, 0o755);
}

async function ensureTools(): Promise<{ code: number; stderr: string; stdout: string }> {
  const options = { env: { PATH: folder }, timeout: 20_000 };
  const run = promisify(execFile)('/bin/bash', [script], options);
  return run.then(
    (ended) => ({ ...ended, code: 0 }),
    (error: { code: number; stderr: string; stdout: string }) => ({
      code: error.code,
      stderr: error.stderr,
      stdout: error.stdout,
    }),
  );
}

describe('ensure-tools', () => {
  it('says nothing when tmux and git are there', async () => {
    await program('tmux');
    await program('git');
    expect(await ensureTools()).toEqual({ code: 0, stderr: '', stdout: '' });
  });

  it('prints the one line to type and fails when it may not install', async () => {
    await program('id', '1000');
    await program('uname', 'Linux');
    await program('git');
    expect(await ensureTools()).toEqual({
      code: 1,
      stderr: 'error: tmux not found; to install, type: sudo apt-get install tmux\n',
      stdout: '',
    });
  });

  it('names brew on macOS', async () => {
    await program('id', '501');
    await program('uname', 'Darwin');
    expect((await ensureTools()).stderr).toBe(
      'error: tmux git not found; to install, type: brew install tmux git\n',
    );
  });

  it.skipIf(!existsSync('/etc/debian_version'))(
    'installs what is missing as root on Debian, and says so in one line',
    async () => {
      await program('id', '0');
      await program('apt-get');
      await program('tmux');
      expect(await ensureTools()).toEqual({ code: 0, stderr: 'installing git with apt-get\n', stdout: '' });
      expect(await readFile(join(folder, 'apt-get.calls'), 'utf8')).toBe(
        '-qq update\n-qq install -y --no-install-recommends git\n',
      );
    },
  );
});
