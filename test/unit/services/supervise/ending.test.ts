import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Git, ProjectFacts, SessionBase } from '../../../../src/git/contract.js';
import { fact } from '../../../../src/services/engine/deps.js';
import { abandonSession, endSession } from '../../../../src/services/supervise/end-session.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession } from '../../../support/fake-session.js';
import { SESSION } from '../../../support/sample-events.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const session = (git: Partial<Git>) => createFakeSession(rig, { git });
const last = () => rig.events().at(-1);

describe('the end of a session', () => {
  it('records where the work in submodules is kept before a worktree goes', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    rig.store.append(
      fact('goal.failed', { ...rig.subject('lead'), source: 'mcp' }, { reason: 'not needed any more' }),
    );
    const removed: string[] = [];
    const kept = { ref: `refs/agentorchestr/salvage/${SESSION}/w01`, commit: 'c1', head: 'h1' };
    const submodules = [{ path: 'lib', repository: '/elsewhere/lib', ref: kept.ref }];
    const { session: context, live } = session({
      status: async () => ({ head: 'h1', commitsBeyondBase: 0, changedFiles: [] }),
      salvage: async () => ({ ...kept, submodules, ignoredFiles: [], notKept: [] }),
      removeWorktree: async ({ path }) => void removed.push(path),
    });
    const origin = { facts: {} as ProjectFacts, base: {} as SessionBase };
    await endSession(context, live, { state: 'timeout', reason: 'used up' }, origin);
    expect(removed).toEqual([rig.worker('w01').worktree]);
    expect(rig.events().find(({ type }) => type === 'work.salvaged')?.data).toEqual({
      ...{ worker: 'w01', ref: kept.ref, commit: 'c1', submodules },
    });
  });
});

describe('a session whose start failed', () => {
  it('has its reason recorded also when what it made cannot be removed again', async () => {
    const made = { integration_branch: 'ours', integration_worktree: '/trees/integration' };
    rig.store.append(fact('session.updated', rig.subject('lead'), made));
    const { session: context } = session({
      removeWorktree: () => Promise.reject(new Error('the repository is locked')),
    });
    await abandonSession(context, new Error('tmux does not start'), { started: false });
    expect(last()).toMatchObject({
      type: 'session.ended',
      data: { state: 'failed', reason: 'tmux does not start' },
    });
  });
});
