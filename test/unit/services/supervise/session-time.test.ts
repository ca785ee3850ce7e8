import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fact } from '../../../../src/services/engine/deps.js';
import { watchSessionTime } from '../../../../src/services/supervise/session-time.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession, type FakeSession } from '../../../support/fake-session.js';
import { SESSION } from '../../../support/sample-events.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

let rig: EngineRig;
let fake: FakeSession;
let over = 0;
let cancel = () => undefined as void;
beforeEach(() => {
  rig = new EngineRig();
  fake = createFakeSession(rig);
  over = 0;
});
afterEach(() => {
  cancel();
  return rig.close();
});

/** A supervisor begins, with a limit of an hour. */
const supervise = (seconds = 3_600) => {
  cancel();
  cancel = watchSessionTime(fake.session, seconds, () => over++);
};
const subject = { session_id: SESSION, source: 'supervisor', evidence: 'process' } as const;
const pause = () => {
  cancel();
  rig.store.append(fact('session.paused', subject, { reason: 'x' }));
};
const resume = () => {
  rig.store.append(fact('session.resumed', subject, { reason: 'x' }));
  supervise();
};

describe('the time of a session', () => {
  it('is over after its limit; a tenth of it before, the lead is told once what to do', async () => {
    supervise();
    await rig.clock.advance(HOUR - 6 * MINUTE - 1);
    expect(rig.notices()).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.notices()).toEqual([expect.stringContaining('is used up in 6 min')]);
    await rig.clock.advance(6 * MINUTE - 1);
    expect(over).toBe(0);
    await rig.clock.advance(1);
    expect([over, rig.notices().length]).toEqual([1, 1]);
  });

  it('goes on while there is no supervisor', async () => {
    supervise();
    await rig.clock.advance(HOUR / 2);
    cancel();
    await rig.clock.advance(HOUR / 4);
    supervise();
    await rig.clock.advance(HOUR / 4 - 1);
    expect(over).toBe(0);
    await rig.clock.advance(1);
    expect(over).toBe(1);
  });

  it('stands still while the session is paused', async () => {
    supervise();
    await rig.clock.advance(HOUR / 2);
    pause();
    await rig.clock.advance(24 * HOUR);
    resume();
    await rig.clock.advance(HOUR / 2 - 1);
    expect(over).toBe(0);
    await rig.clock.advance(1);
    expect(over).toBe(1);
  });

  it('is given anew to a session that is taken up after it was over', async () => {
    supervise();
    await rig.clock.advance(HOUR);
    rig.store.append(fact('session.ended', subject, { state: 'timeout', summary: '' }));
    await rig.clock.advance(24 * HOUR);
    resume();
    await rig.clock.advance(HOUR - 1);
    expect(over).toBe(1);
    await rig.clock.advance(1);
    expect(over).toBe(2);
  });

  it('that is called off leaves no timer', () => {
    const before = rig.clock.pending();
    supervise();
    cancel();
    expect(rig.clock.pending()).toBe(before);
  });
});
