import { describe, expect, it } from 'vitest';
import { chooseAgents } from '../../../src/doors/cli/goal/choose-agents.js';
import type { DetectedAgent } from '../../../src/doors/cli/host.js';
import { agent, known } from './fake-host.js';

const best = agent('best', { kind: 'sdk', orchestrate: 10 });
const good = agent('good', { orchestrate: 8 });
const fair = agent('fair', { orchestrate: 6 });
const weak = agent('weak', { orchestrate: 2 });
const mute = agent('mute', { orchestrate: 9, mcp: false });
const editor = agent('editor', { kind: 'ide', orchestrate: 9 });
const stuck = agent('stuck', { launchable: false, launchableAsLead: false });
const ALL = [best, good, fair, weak, mute, editor, stuck];

function choose(detected: readonly DetectedAgent[], wishes: { names?: string[]; lead?: string } = {}) {
  const { lead, workers, warnings } = chooseAgents(detected, known(...ALL), {
    names: wishes.names ?? null,
    lead: wishes.lead ?? null,
  });
  return { lead: lead.name, workers: workers.map(({ name }) => name), warnings };
}

const failing = (detected: readonly DetectedAgent[], wishes: { names?: string[]; lead?: string }) => {
  try {
    return choose(detected, wishes);
  } catch (error) {
    return error as Error;
  }
};

describe('the choice of agents', () => {
  it('[16] --agents restricts lead and workers to the ones it names', () => {
    expect(choose(ALL, { names: ['good', 'weak'] })).toEqual({
      lead: 'good',
      workers: ['weak'],
      warnings: [],
    });
  });

  it('[16] warns of names that are unknown, missing or not startable while one can be used', () => {
    expect(choose([good, stuck], { names: ['good', 'gooood', 'weak', 'stuck'] })).toEqual({
      lead: 'good',
      workers: ['good'],
      warnings: [
        'no agent is called "gooood"; it is left out',
        'weak was not found on PATH; it is left out',
        'stuck was found but cannot be started by this version; it is left out',
        'only good can be used: it leads and works, as separate instances',
      ],
    });
  });

  it('[16] names nobody: an error', () => {
    expect(failing([good], { names: ['weak', 'gooood'] })).toMatchObject({
      code: 'NO_AGENTS',
      exitCode: 1,
      message: 'none of these agents was found on PATH: weak, gooood',
    });
  });

  it('names only what no agent is called: a slip, and not something to install', () => {
    expect(failing([good], { names: ['gooood'] })).toMatchObject({
      code: 'UNKNOWN_AGENT',
      message: 'no agent "gooood"',
      hint: expect.stringContaining('good'),
    });
  });

  it('nobody is there: the hint names what to install', () => {
    expect(failing([], {})).toHaveProperty(
      'hint',
      expect.stringMatching(/^install .*good \(good\).* log in once/),
    );
  });

  it('[17] --lead picks the lead, with --agents and without', () => {
    expect(choose(ALL, { names: ['good', 'weak'], lead: 'weak' })).toMatchObject({
      lead: 'weak',
      workers: ['good'],
    });
    expect(choose([best, good, fair, weak], { lead: 'weak' })).toMatchObject({
      lead: 'weak',
      workers: ['best', 'good', 'fair'],
    });
  });

  it('[17] --lead outside --agents exits 1 and names the conflict', () => {
    expect(failing(ALL, { names: ['good'], lead: 'best' })).toMatchObject({
      code: 'LEAD_CONFLICT',
      exitCode: 1,
      message: '--lead best is not among --agents good',
    });
  });

  it.each([
    { lead: 'nobody', code: 'UNKNOWN_AGENT' },
    { lead: 'mute', code: 'LEAD_WITHOUT_MCP' },
    { lead: 'stuck', code: 'AGENT_NOT_LAUNCHABLE' },
  ])('[17] --lead $lead is refused with $code', ({ lead, code }) => {
    expect(failing(ALL, { lead })).toMatchObject({ code, exitCode: 1 });
  });

  it('[17] a lead without MCP is told who can lead', () => {
    expect(failing(ALL, { lead: 'mute' })).toHaveProperty(
      'hint',
      'agents that can lead: best, good, fair, weak, editor, stuck',
    );
  });

  it('[18] of one that was named alone it does not warn', () => {
    expect(choose(ALL, { names: ['good'] })).toEqual({ lead: 'good', workers: ['good'], warnings: [] });
  });

  it('[17] a lead that is not installed is told so', () => {
    expect(failing([good], { lead: 'best' })).toMatchObject({ code: 'NO_AGENTS' });
  });

  it('[18] with one agent it warns and lets it lead and work', () => {
    expect(choose([good])).toEqual({
      lead: 'good',
      workers: ['good'],
      warnings: ['only good can be used: it leads and works, as separate instances'],
    });
  });

  it('[19] without --lead the best orchestrator with MCP leads, programs before editors; up to three others work', () => {
    expect(choose([editor, weak, mute, fair, good])).toEqual({
      lead: 'good',
      workers: ['editor', 'weak', 'mute'],
      warnings: [],
    });
    expect(choose([editor, mute])).toMatchObject({ lead: 'editor', workers: ['mute'] });
  });

  it('[19] only agents without MCP cannot do it', () => {
    expect(failing([mute], {})).toMatchObject({
      code: 'LEAD_WITHOUT_MCP',
      message: 'mute cannot be lead: it has no MCP support',
    });
  });

  it('agents that cannot be started are no choice, and say which could', () => {
    expect(failing([stuck], {})).toMatchObject({
      code: 'AGENT_NOT_LAUNCHABLE',
      hint: 'agents that can be started: best, good, fair, weak, mute, editor',
    });
    expect(failing([], {})).toMatchObject({ code: 'NO_AGENTS' });
  });
});
