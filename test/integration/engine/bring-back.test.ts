import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LEAD_ID } from '../../../src/core/ids.js';
import { fact } from '../../../src/services/engine/deps.js';
import { acceptInstruction } from '../../../src/services/engine/instruct.js';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => void (rig = new EngineRig()));
afterEach(() => rig.close());

const exit = (workerId: string, status: number | null = 1, outputTail = '') =>
  rig.backend.emit({
    ...{ type: 'exited', workerId, status, outputTail },
    attemptId: rig.worker(workerId).attempt_id ?? '',
  });
const open = (workerId: string, thread_id: string) =>
  rig.store.append(fact('thread.opened', rig.subject(workerId), { thread_id }));

/** Its work is done, and it waits for what comes. */
async function idle(workerId: string): Promise<void> {
  await rig.working(workerId);
  rig.engine.report(workerId, { state: 'succeeded', summary: 'one' }, 'protocol');
  await rig.endTurn(workerId);
  await rig.until('idle', () => rig.worker(workerId).state === 'idle');
}

describe('a worker whose process is over', () => {
  it('is brought back by an instruction, which waits for it and reaches it once', async () => {
    await idle('w01');
    exit('w01');
    expect(rig.broughtBack).toEqual([]);
    rig.instruct('w01', 'once more');
    await rig.calm();
    expect(new Set(rig.broughtBack)).toEqual(new Set(['w01']));
    expect(rig.run('w01')).toMatchObject({ state: 'queued', number: 2 });
    await rig.cameBack('w01');
    expect(rig.backend.sending('w01').text).toBe('once more');
    await rig.take('w01');
    expect(rig.worker('w01').state).toBe('working');
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['follow_up', 'started'],
    ]);
  });

  it('takes none if it never came to life; nor does a lead', async () => {
    await idle('w01');
    exit('w01');
    rig.store.append(fact('worker.lost', rig.subject('w01'), { reason: 'not started', never_started: true }));
    expect(() => rig.instruct('w01', 'x')).toThrow(expect.objectContaining({ code: 'WORKER_NOT_RUNNING' }));
    await rig.working(LEAD_ID);
    exit(LEAD_ID);
    expect(() => rig.instruct(LEAD_ID, 'x')).toThrow(expect.objectContaining({ code: 'WORKER_NOT_RUNNING' }));
  });

  it('is found to be wanted by whoever takes over', async () => {
    await idle('w01');
    exit('w01');
    rig.die();
    rig.broughtBack.length = 0;
    rig.instruct('w01', 'once more');
    rig.engine.pump('w01');
    expect(rig.broughtBack).toContain('w01');
  });

  it('goes on with its run in another process, as often as it may', async () => {
    await idle('w01');
    open('w01', 'thread-1');
    const instruction = { kind: 'follow_up', sender: 'lead', source: 'mcp', retries: 1 } as const;
    rig.store.transaction((tx) =>
      acceptInstruction(rig.deps, tx, rig.worker('w01'), { ...instruction, text: 'with patience' }),
    );
    await rig.take('w01');
    exit('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'queued', failed_attempts: 1 });
    expect(rig.ended).toEqual([]);
    await rig.cameBack('w01');
    // It has the text in its conversation.
    expect(rig.backend.sending('w01').text).toMatch(/go on/i);
    await rig.take('w01');
    exit('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'failed', failure_code: 'AGENT_EXITED' });
    expect(rig.ended).toHaveLength(1);
  });

  it('is not brought back for a run that is to be cancelled', async () => {
    await rig.working('w01');
    const run = rig.subject('w01', rig.run('w01').run_id);
    rig.store.append(fact('run.cancel_requested', run, { by: 'lead', reason: 'enough' }));
    exit('w01');
    expect(rig.run('w01').state).toBe('cancelled');
    expect(rig.broughtBack).toEqual([]);
  });
});

describe('a conversation that its agent does not know', () => {
  it('is begun anew, once, with what was said in it', async () => {
    await rig.start('w01', 'the first task');
    open('w01', 'thread-1');
    await rig.take('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    exit('w01');
    const { runId } = rig.instruct('w01', 'the second task');
    rig.beginProcess('w01', runId, 'attempt-2');
    exit('w01', 1, 'No conversation found with session ID: thread-1');
    expect(rig.run('w01')).toMatchObject({ state: 'queued', failed_attempts: 0 });
    expect(rig.worker('w01').thread_id).toBeNull();
    expect(rig.broughtBack.at(-1)).toBe('w01');
    expect(rig.ended).toHaveLength(1);
    await rig.cameBack('w01');
    const { text } = rig.backend.sending('w01');
    expect(text).toMatch(/<conversation>[^]*the first task[^]*<\/conversation>[^]*the second task$/);
    await rig.take('w01');
    open('w01', 'thread-2');
    rig.engine.report('w01', { state: 'succeeded', summary: 'two' }, 'protocol');
    await rig.endTurn('w01');
    rig.instruct('w01', 'the third task');
    await rig.until('the third', () => rig.backend.isSending('w01'));
    expect(rig.backend.sending('w01').text).toBe('the third task');
  });

  it('is not begun anew where somebody else is at it', async () => {
    await idle('w01');
    open('w01', 'thread-1');
    exit('w01');
    const { runId } = rig.instruct('w01', 'the second task');
    rig.beginProcess('w01', runId, 'attempt-2');
    exit('w01', 1, 'Session thread-1 is already in use');
    expect(rig.run('w01')).toMatchObject({ state: 'failed', failure_code: 'THREAD_IN_USE' });
    expect(rig.worker('w01').thread_id).toBe('thread-1');
  });

  it('is not taken from what an agent says once it is up', async () => {
    await rig.working('w01');
    open('w01', 'thread-1');
    exit('w01', 1, 'No conversation found with session ID: thread-1');
    expect(rig.run('w01')).toMatchObject({ state: 'failed', failure_code: 'AGENT_EXITED' });
    expect(rig.worker('w01').thread_id).toBe('thread-1');
  });
});

describe('a worker that is not needed now', () => {
  it('is retired only when it is idle and nothing waits for it', async () => {
    await rig.working('w01');
    expect(rig.engine.retire('w01', 'room')).toBe(false);
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    expect(rig.engine.retire('w01', 'room')).toBe(true);
    exit('w01', 143);
    expect(rig.worker('w01')).toMatchObject({ state: 'exited', retired: true });
    expect(rig.run('w01').state).toBe('succeeded');
  });

  it('that lives on, because whoever retired it died, is one like any other: its death in a turn ends the run', async () => {
    await idle('w01');
    rig.engine.retire('w01', 'room');
    rig.die();
    await rig.takeUp('w01');
    rig.instruct('w01', 'still there?');
    await rig.take('w01');
    expect(rig.worker('w01')).toMatchObject({ state: 'working', retired: false });
    exit('w01', 1);
    expect(rig.run('w01')).toMatchObject({ state: 'failed', failure_code: 'AGENT_EXITED' });
    expect(rig.ended).toHaveLength(1);
  });

  it('loses nothing that comes while it goes: no text reaches the process that ends, the next one has it', async () => {
    await idle('w01');
    rig.engine.retire('w01', 'room');
    rig.instruct('w01', 'just now');
    await rig.calm();
    expect(rig.backend.isSending('w01')).toBe(false);
    expect(rig.broughtBack).toEqual([]);
    exit('w01', 143);
    expect(rig.receipts('w01').at(-1)).toEqual(['follow_up', 'queued']);
    expect(rig.broughtBack).toEqual(['w01']);
    await rig.cameBack('w01');
    expect(rig.backend.sending('w01').text).toBe('just now');
    expect(rig.worker('w01').retired).toBe(false);
  });
});
