import { describe, expect, it } from 'vitest';
import {
  leadContinueText,
  noticesText,
  reportNowText,
} from '../../../../src/services/context/engine-texts.js';
import { composeLeadPrompt, type LeadPromptParts } from '../../../../src/services/context/lead-prompt.js';
import { findPerspective, PERSPECTIVES } from '../../../../src/services/context/perspectives.js';
import {
  composeWorkerPrompt,
  type WorkerPromptParts,
} from '../../../../src/services/context/worker-prompt.js';

const perspective = PERSPECTIVES[0] ?? { name: '', readOnly: false, role: '' };

const PARTS: WorkerPromptParts = {
  alone: false,
  isRead: true,
  workerId: 'w03',
  perspective,
  worktree: '/data/worktrees/implementer-w03',
  branch: 'agentorchestr/3f2a91bc/implementer-w03',
  fileScope: ['src', 'test'],
  passCriteria: 'tests pass',
  extraContext: 'the API is frozen',
  task: 'write it',
  flagPath: '/tmp/s/workers/w03/done.flag',
  nonce: 'abc123',
};
const workerPrompt = (parts: Partial<WorkerPromptParts> = {}) => composeWorkerPrompt({ ...PARTS, ...parts });
const headings = (text: string) => text.split('\n').filter((line) => line.startsWith('# '));

describe('the prompt of a worker', () => {
  it('has its parts in this order', () => {
    expect(headings(workerPrompt())).toEqual([
      '# You are worker w03',
      '# Your role: implementer',
      '# File scope',
      '# Pass criteria',
      '# Context from the lead',
      '# Task',
    ]);
    expect(workerPrompt().endsWith('# Task\nwrite it')).toBe(true);
  });

  it('leaves out what there is nothing of', () => {
    expect(headings(workerPrompt({ fileScope: [], passCriteria: ' \n', extraContext: '' }))).toEqual([
      '# You are worker w03',
      '# Your role: implementer',
      '# Task',
    ]);
  });

  it('shows twenty entries of the file scope and how many more there are', () => {
    const scope = Array.from({ length: 23 }, (_, index) => `src/${index}.ts`);
    const section = (entries: string[]) =>
      /# File scope\n([\s\S]*?)\n\n/.exec(workerPrompt({ fileScope: entries }))?.[1]?.split('\n');
    expect(section(scope.slice(0, 20))).toEqual(scope.slice(0, 20).map((entry) => `- ${entry}`));
    expect(section(scope)).toEqual([...scope.slice(0, 20).map((entry) => `- ${entry}`), '- +3 more']);
  });

  it.each([
    ['passCriteria', 400],
    ['extraContext', 4_000],
  ] as const)('cuts %s at %i characters, visibly', (part, limit) => {
    expect(workerPrompt({ [part]: 'x'.repeat(limit) })).not.toContain('[truncated]');
    expect(workerPrompt({ [part]: `${'x'.repeat(limit)}y` })).toContain(
      `\n${'x'.repeat(limit)}\n[truncated]`,
    );
  });

  it('never cuts the task', () => {
    const task = 'long '.repeat(20_000);
    expect(workerPrompt({ task }).endsWith(task)).toBe(true);
  });

  it('describes the sentinel without containing a finished one', () => {
    expect(workerPrompt()).toContain('WORKER_DONE[abc123]');
    expect(workerPrompt()).not.toMatch(/WORKER_(DONE|BLOCKED|FAILED)(\[\w+\])?:/);
    expect(reportNowText('abc123')).not.toMatch(/WORKER_(DONE|BLOCKED|FAILED)(\[\w+\])?:/);
  });

  it('names the flag file and every tool by which it can report', () => {
    for (const word of ['report_done', 'report_blocked', 'ask_lead', PARTS.flagPath])
      expect(workerPrompt()).toContain(word);
  });
});

const LEAD: LeadPromptParts = {
  preamble: '# Our project\nuse tabs',
  baseStatement: 'base main@abc1234',
  workerAgents: ['one', 'two'],
  verifyCommands: ['npm test', 'npm run lint'],
  limits: { max_workers: 3, total_workers: 10, spawns_per_minute: 5 },
  goal: 'make it faster',
};

describe('the prompt of the lead', () => {
  it('begins with the project’s own words and ends with the goal', () => {
    const parts = composeLeadPrompt(LEAD).split('\n\n---\n\n');
    expect(parts).toHaveLength(3);
    expect([parts[0], parts[2]]).toEqual(['# Our project\nuse tabs', '# Goal\nmake it faster']);
  });

  it('has no empty beginning for a project that says nothing', () => {
    expect(composeLeadPrompt({ ...LEAD, preamble: '' })).toMatch(/^# You lead a team/);
  });

  it('says the base, the agents, the verify commands and the limits', () => {
    const text = composeLeadPrompt(LEAD);
    expect(text).toContain('the integration worktree, base main@abc1234.');
    expect(text).toContain(
      'Worker agents: one, two (choose with agent_hint). verify runs: npm test · npm run lint',
    );
    expect(text).toContain('Limits: 3 workers at one time, 10 in all, 5 spawns a minute.');
  });

  it('says that nothing is known to verify with', () => {
    expect(composeLeadPrompt({ ...LEAD, verifyCommands: [] })).toContain('verify answers nothing_to_verify');
  });

  it('is the same, byte for byte, every time', () => {
    expect(composeLeadPrompt(LEAD)).toBe(composeLeadPrompt({ ...LEAD }));
  });
});

describe('what the engine itself says', () => {
  it('lists the news', () => {
    expect(noticesText(['a', 'b'])).toBe('[agentorchestr] News from your workers:\n- a\n- b');
  });

  it('is one paragraph each', () => {
    for (const text of [reportNowText('n'), leadContinueText()]) expect(text).not.toContain('\n');
  });
});

describe('perspectives', () => {
  it('are found by their exact name', () => {
    expect(PERSPECTIVES.map(({ name }) => findPerspective(name)?.name)).toEqual(
      PERSPECTIVES.map(({ name }) => name),
    );
    expect(findPerspective('Tester')).toBeUndefined();
  });

  it('of those that only look say that nothing may be changed', () => {
    for (const { readOnly, role } of PERSPECTIVES) expect(role.includes('Change nothing.')).toBe(readOnly);
  });
});
