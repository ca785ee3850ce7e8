import { describe, expect, it } from 'vitest';
import { baseStatement } from '../../../src/git/base-statement.js';
import type { ProjectFacts } from '../../../src/git/contract.js';
import { gitEnvironment, settingArguments } from '../../../src/git/git-environment.js';
import { isOwnFile } from '../../../src/git/own-files.js';
import { createSemaphore } from '../../../src/git/repository-lock.js';
import { shellQuote } from '../../../src/platform/shell-quote.js';

const NOW = Date.parse('2026-05-10T12:00:00Z');
const facts: ProjectFacts = {
  project: '/p',
  repository: '/p/.git',
  checkout: '/p',
  subdirectory: '',
  head: 'abc1234567890',
  branch: 'main',
  upstream: null,
  uncommittedFiles: [],
  newFiles: [],
  submodules: false,
  lfs: false,
};
const said = { now: NOW, included: false, embedded: [], fetchProblem: null };
const upstream = (ahead: number, behind: number, fetchedAt: string | null) => ({
  name: 'origin/main',
  ahead,
  behind,
  fetchedAt,
});

describe('the sentence about the base', () => {
  it.each([
    [{}, {}, 'base main@abc1234'],
    [{ branch: null }, {}, 'base abc1234 (detached HEAD)'],
    [
      { upstream: upstream(0, 12, '2026-05-07T11:00:00Z'), uncommittedFiles: ['a', 'b', 'c'] },
      {},
      'base main@abc1234; 12 behind origin/main as last fetched 3 days ago; 3 uncommitted files are not included',
    ],
    [
      { upstream: upstream(2, 0, '2026-05-10T10:59:00Z') },
      {},
      'base main@abc1234; 2 ahead of origin/main as last fetched 1 hour ago',
    ],
    [
      { upstream: upstream(0, 0, '2026-05-10T11:59:30Z') },
      {},
      'base main@abc1234; level with origin/main as last fetched just now',
    ],
    [
      { upstream: upstream(1, 1, null) },
      {},
      'base main@abc1234; 1 ahead of and 1 behind origin/main as last fetched at an unknown time',
    ],
    [
      { uncommittedFiles: ['a'] },
      { included: true, embedded: ['x'] },
      'base main@abc1234; 1 uncommitted file is included; 1 git repository inside is not included: x',
    ],
    [{}, { fetchProblem: 'no route' }, 'base main@abc1234; the fetch failed (no route)'],
  ])('%j %j', (some, other, sentence) => {
    expect(baseStatement({ ...facts, ...some }, { ...said, ...other })).toBe(sentence);
  });
});

describe('our own files', () => {
  it.each([
    ['.agentorchestr/done.flag', true],
    ['.agentorchestr/done.flag.tmp', true],
    ['sub/.agentorchestr/prompt_w01.txt', true],
    ['.agentorchestr/mcp_configs/x/mcp.json', true],
    ['.agentorchestr/PROJECT.md', false],
    ['.agentorchestr/skills/prompt_x', false],
    ['x.agentorchestr/done.flag', false],
  ])('%s: %s', (path, own) => {
    expect(isOwnFile(path)).toBe(own);
  });
});

describe('the environment of our git', () => {
  it("drops what would lead it to another repository, index or editor, and keeps what is the user's choice", () => {
    const env = gitEnvironment({
      PATH: '/bin',
      GIT_DIR: '/other/.git',
      GIT_WORK_TREE: '/other',
      GIT_INDEX_FILE: '/other/index',
      GIT_OBJECT_DIRECTORY: '/other/objects',
      GIT_NAMESPACE: 'x',
      GIT_TRACE: '1',
      GIT_EDITOR: 'vim',
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_DATE: '2001-01-01T00:00:00Z',
      GIT_CONFIG_GLOBAL: '/home/config',
      GIT_SSH_COMMAND: 'ssh -i key',
    });
    for (const name of [
      'GIT_DIR',
      'GIT_WORK_TREE',
      'GIT_INDEX_FILE',
      'GIT_OBJECT_DIRECTORY',
      'GIT_NAMESPACE',
      'GIT_TRACE',
      'GIT_AUTHOR_DATE',
    ])
      expect(env).not.toHaveProperty(name);
    expect(env).toMatchObject({
      PATH: '/bin',
      GIT_AUTHOR_NAME: 'Ann',
      GIT_CONFIG_GLOBAL: '/home/config',
      GIT_SSH_COMMAND: 'ssh -i key -oBatchMode=yes',
      GIT_EDITOR: ':',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C',
    });
  });

  it('takes the LFS filter out only where git-lfs is missing', () => {
    expect(settingArguments({ lfsInstalled: true }).join(' ')).not.toContain('filter.lfs');
    expect(settingArguments({ lfsInstalled: false })).toContain('filter.lfs.required=false');
  });
});

describe('shellQuote', () => {
  it.each([
    ['main', 'main'],
    ['/a/b-c_d.e', '/a/b-c_d.e'],
    ['a b', "'a b'"],
    ["it's", `'it'\\''s'`],
    ['$(x)', "'$(x)'"],
    ['', "''"],
  ])('%j', (text, quoted) => {
    expect(shellQuote(text)).toBe(quoted);
  });
});

describe('the semaphore', () => {
  it('lets two work at a time, goes on after a failure, and keeps the order', async () => {
    const limit = createSemaphore(2);
    const order: number[] = [];
    let [running, most] = [0, 0];
    const work = (number: number) =>
      limit(async () => {
        order.push(number);
        most = Math.max(most, (running += 1));
        await Promise.resolve();
        running -= 1;
        if (number === 1) throw new Error('one fails');
      });
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect([results.map((result) => result.status), order, most]).toEqual([
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
      [0, 1, 2, 3, 4],
      2,
    ]);
  });
});
