import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { carryOnSpawn, spawnWorker } from '../../../../src/services/supervise/spawn-worker.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession, type FakeSession } from '../../../support/fake-session.js';

let rig: EngineRig;
let fake: FakeSession;
let breakOff: (error: Error) => void;
beforeEach(() => {
  rig = new EngineRig();
  fake = createFakeSession(rig, {
    git: {
      resolve: async () => 'a1',
      createWorktree: () => new Promise((_, reject) => (breakOff = reject)),
      removeWorktree: async () => undefined,
      deleteBranch: async () => undefined,
    },
  });
});
afterEach(() => rig.close());

const spawn = (sender: string) =>
  spawnWorker(fake.session, {
    ...{ task: 'write it', perspective: 'implementer', file_scope: [], pass_criteria: '', extra_context: '' },
    sender,
  });
const news = () => rig.messages('lead').map(({ state, detail }) => [state, detail]);

describe('a spawn that fails', () => {
  it('is told to the lead by the answer of its call, and not a second time', async () => {
    const answer = spawn('lead');
    await rig.calm();
    breakOff(new Error('the disk is full'));
    await expect(answer).rejects.toThrow('the disk is full');
    expect(news()).toEqual([['submitted', 'answer of spawn_worker']]);
    expect(rig.run('w01')).toMatchObject({ state: 'failed', summary: 'unexpected: the disk is full' });
  });

  it('after it was answered, since its set-up takes long, is news to the lead', async () => {
    const answer = spawn('lead');
    await rig.calm();
    await rig.clock.advance(25_000);
    expect(await answer).toMatchObject({ paneId: null, worker: { worker_id: 'w01', state: 'starting' } });
    breakOff(new Error('the disk is full'));
    await rig.until('its end', () => rig.worker('w01').state === 'lost');
    expect(news()).toEqual([['accepted', null]]);
    expect(rig.notices()[0]).toContain('the disk is full');
  });

  it('for a person, or as a supervisor carries on with it, is news to the lead as well', async () => {
    const answer = spawn('cli');
    await rig.calm();
    breakOff(new Error('the disk is full'));
    await expect(answer).rejects.toThrow('the disk is full');
    expect(news()).toEqual([['accepted', null]]);
    await rig.close();
    rig = new EngineRig();
    const undo = { removeWorktree: async () => undefined, deleteBranch: async () => undefined };
    const git = { ...undo, createWorktree: () => Promise.reject(new Error('again')) };
    fake = createFakeSession(rig, { git });
    await rig.start('w01');
    const carriedOn = carryOnSpawn(fake.session, fake.live, { ...rig.worker('w01'), attempt_id: null });
    await expect(carriedOn).rejects.toThrow('again');
    expect(rig.messages('lead').at(-1)?.state).toBe('accepted');
  });
});
