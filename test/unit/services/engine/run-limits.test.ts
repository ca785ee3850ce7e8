import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptInstruction } from '../../../../src/services/engine/instruct.js';
import { EngineRig } from '../../../support/engine-rig.js';

const LIMIT_MS = 60_000;

let rig: EngineRig;
beforeEach(() => void (rig = new EngineRig()));
afterEach(() => rig.close());

/** Its second run may take a minute, and has just begun. */
async function limited(): Promise<void> {
  await rig.working('w01');
  rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
  await rig.endTurn('w01');
  const instruction = { kind: 'follow_up', sender: 'lead', source: 'mcp', text: 'quickly' } as const;
  rig.store.transaction((tx) =>
    acceptInstruction(rig.deps, tx, rig.worker('w01'), { ...instruction, timeoutMs: LIMIT_MS }),
  );
  await rig.take('w01');
  await rig.calm();
}
const leftMs = () => Date.parse(rig.run('w01').started_at ?? '') + LIMIT_MS - rig.clock.now();

describe('a run whose time is up', () => {
  it('ends as timed out, its agent is interrupted and not ended, and the lead is told', async () => {
    await limited();
    await rig.clock.advance(leftMs() - 1);
    expect(rig.run('w01').state).toBe('running');
    await rig.clock.advance(1);
    const summary = 'it took longer than the 60 s that it was given';
    expect(rig.run('w01')).toMatchObject({ state: 'timed_out', summary });
    expect(rig.backend.interrupted).toEqual(['w01']);
    expect(rig.ended).toEqual([]);
    expect(rig.notices().at(-1)).toBe(`w01 (implementer) ran out of time: ${summary}`);
  });

  it('is not made undone by what its agent reports later, and the next task reaches it', async () => {
    await limited();
    await rig.clock.advance(LIMIT_MS);
    const { run_id: runId } = rig.run('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'late' }, 'protocol');
    await rig.endTurn('w01');
    expect(rig.store.run(runId)?.state).toBe('timed_out');
    rig.instruct('w01', 'the next');
    await rig.take('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'running', number: 3 });
  });

  it('has used up its time also while there was no supervisor', async () => {
    await limited();
    rig.die();
    await rig.clock.advance(2 * LIMIT_MS);
    expect(rig.run('w01').state).toBe('running');
    await rig.takeUp('w01');
    await rig.clock.advance(1);
    expect(rig.run('w01').state).toBe('timed_out');
  });

  it('that ended in time leaves no timer', async () => {
    await limited();
    const before = rig.clock.pending();
    rig.engine.report('w01', { state: 'succeeded', summary: 'two' }, 'protocol');
    await rig.endTurn('w01');
    await rig.calm();
    expect(rig.clock.pending()).toBeLessThan(before);
    await rig.clock.advance(2 * LIMIT_MS);
    expect([rig.run('w01').state, rig.backend.interrupted]).toEqual(['succeeded', []]);
  });
});
