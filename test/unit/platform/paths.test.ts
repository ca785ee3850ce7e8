import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  resolvePaths,
  sessionDataDirectory,
  sessionDirectory,
  worktreesDirectory,
} from '../../../src/platform/paths.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ao-home-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const paths = (env: Readonly<Record<string, string | undefined>> = {}) =>
  resolvePaths({ HOME: home, ...env });
const below = (root: string) => ({
  data: root,
  config: root,
  cache: `${root}/cache`,
  state: `${root}/state`,
  database: `${root}/state.db`,
});

describe('where everything lives', () => {
  it('is where XDG says when nothing is set', () => {
    expect(paths({ TMPDIR: '/tmp' })).toEqual({
      data: `${home}/.local/share/agentorchestr`,
      config: `${home}/.config/agentorchestr`,
      cache: `${home}/.cache/agentorchestr`,
      state: `${home}/.local/state/agentorchestr`,
      temp: '/tmp',
      database: `${home}/.local/share/agentorchestr/state.db`,
    });
  });

  it('follows each XDG variable', () => {
    const { temp: _temp, ...rest } = paths({
      XDG_DATA_HOME: '/x/data',
      XDG_CONFIG_HOME: '/x/config',
      XDG_CACHE_HOME: '/x/cache',
      XDG_STATE_HOME: '/x/state',
    });
    expect(rest).toEqual({
      data: '/x/data/agentorchestr',
      config: '/x/config/agentorchestr',
      cache: '/x/cache/agentorchestr',
      state: '/x/state/agentorchestr',
      database: '/x/data/agentorchestr/state.db',
    });
  });

  it.each(['', 'relative/path', './here'])('takes no XDG path that is not absolute: %j', (value) => {
    expect(paths({ XDG_DATA_HOME: value }).data).toBe(`${home}/.local/share/agentorchestr`);
  });

  it('is one folder with AGENTORCHESTR_HOME, which goes before all else', () => {
    mkdirSync(join(home, '.agentorchestr'));
    expect(paths({ AGENTORCHESTR_HOME: '/own/place', XDG_DATA_HOME: '/x' })).toMatchObject(
      below('/own/place'),
    );
    expect(paths({ AGENTORCHESTR_HOME: 'own' }).data).toBe(join(process.cwd(), 'own'));
  });

  it('[78] is the folder of an older install where there is one, as it is', () => {
    mkdirSync(join(home, '.agentorchestr'));
    expect(paths({ XDG_DATA_HOME: '/x', AGENTORCHESTR_HOME: '' })).toMatchObject(
      below(`${home}/.agentorchestr`),
    );
  });

  it('has a temporary folder of its own choosing, absolute', () => {
    expect(paths({ TMPDIR: '/var/tmp/' }).temp).toBe('/var/tmp');
    expect(resolvePaths({ AGENTORCHESTR_HOME: '/x' }).temp).toBe(tmpdir());
  });

  it('knows the home of the user when the environment does not', () => {
    expect(resolvePaths({ XDG_DATA_HOME: '/x', XDG_CONFIG_HOME: '/x' }).cache.startsWith(homedir())).toBe(
      true,
    );
  });
});

describe('the folders of a session', () => {
  const at = { ...below('/data'), temp: '/tmp' };

  it('have names that a person can read', () => {
    expect([
      sessionDirectory(at, '3f2a91bc'),
      sessionDataDirectory(at, '3f2a91bc'),
      worktreesDirectory(at, '/home/user/my project', '3f2a91bc'),
      worktreesDirectory(at, '/', '3f2a91bc'),
    ]).toEqual([
      '/tmp/agentorchestr-3f2a91bc',
      '/data/sessions/3f2a91bc',
      '/data/worktrees/my project/3f2a91bc',
      '/data/worktrees/project/3f2a91bc',
    ]);
  });
});
