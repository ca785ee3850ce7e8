import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../../src/core/errors/error.js';
import type { EventData, EventName } from '../../../../src/core/events/index.js';
import { LEAD_ID } from '../../../../src/core/ids.js';
import { callOperation } from '../../../../src/services/call-operation.js';
import { fact } from '../../../../src/services/engine/deps.js';
import { OPERATIONS } from '../../../../src/services/operations/index.js';
import { answerWorker, type AnswerRequest } from '../../../../src/services/supervise/answer-worker.js';
import { attention, DRAFT_MS, type AttentionItem } from '../../../../src/services/supervise/attention.js';
import { followAttention } from '../../../../src/services/supervise/follow-attention.js';
import { followLabels } from '../../../../src/services/supervise/labels.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession, type FakeSession } from '../../../support/fake-session.js';
import { SESSION } from '../../../support/sample-events.js';

let rig: EngineRig;
let fake: FakeSession;
beforeEach(() => {
  rig = new EngineRig();
  fake = createFakeSession(rig);
});
afterEach(() => rig.close());

const items = (): AttentionItem[] => attention(rig.store, SESSION, rig.clock.now());
const listed = () => items().map(({ worker_id, kind }) => `${worker_id} ${kind}`);
const append = <Name extends EventName>(type: Name, worker: string, data: EventData<Name>, run?: string) =>
  void rig.store.append(fact(type, { ...rig.subject(worker, run), evidence: 'screen' }, data));
const YES_NO = [
  { number: 1, label: 'Yes' },
  { number: 2, label: 'No' },
];
const waits = (
  worker: string,
  kind: EventData<'worker.waiting'>['kind'],
  more: Partial<EventData<'worker.waiting'>> = {},
) => append('worker.waiting', worker, { kind, text: `${kind} of ${worker}`, ...more });
const prompt = { choices: YES_NO, prompt_hash: 'aaaabbbbcccc', via: 'screen' } as const;

const answer = (request: Partial<AnswerRequest>) =>
  answerWorker(fake.session, { workerId: 'w01', promptHash: '', by: 'person', sender: 'cli', ...request });
async function failure(work: Promise<unknown>): Promise<OrchestratorError> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof OrchestratorError) return error;
  throw new Error(`it did not fail as it should: ${String(error)}`);
}

describe('what waits for somebody', () => {
  it('is nothing while agents work, and nothing once the session is over', async () => {
    await rig.working('w01');
    expect(items()).toEqual([]);
    waits('w01', 'permission');
    rig.store.append(
      fact(
        'session.paused',
        { session_id: SESSION, source: 'supervisor', evidence: 'process' },
        { reason: 'x' },
      ),
    );
    expect(items()).toEqual([]);
  });

  it('is a prompt as it stands, with its answers and its hash', async () => {
    await rig.working('w01');
    waits('w01', 'permission', { ...prompt, text: 'rm -rf build' });
    expect(items()).toEqual([
      {
        ...{ worker_id: 'w01', kind: 'permission', text: 'rm -rf build', choices: YES_NO },
        ...{ prompt_hash: 'aaaabbbbcccc', since: rig.worker('w01').waiting_since, via: 'screen' },
      },
    ]);
  });

  it('comes most urgent first, then oldest: prompts, login and quota, questions, the rest', async () => {
    for (const worker of ['w01', 'w02', 'w03', 'w04', 'w05']) await rig.working(worker);
    waits('w01', 'report');
    await rig.clock.advance(1_000);
    expect(rig.engine.ask('w02', 'red or blue?')).toBe(true);
    await rig.clock.advance(1_000);
    waits('w03', 'quota');
    await rig.clock.advance(1_000);
    waits('w04', 'trust');
    await rig.clock.advance(1_000);
    waits('w05', 'permission');
    expect(listed()).toEqual(['w04 trust', 'w05 permission', 'w03 quota', 'w02 question', 'w01 report']);
  });

  it('is an open question once, whether its turn goes on or ended, and goes with the answer', async () => {
    await rig.working('w01');
    rig.engine.ask('w01', 'red or blue?');
    const [asked] = items();
    expect(asked).toMatchObject({ kind: 'question', text: 'red or blue?', choices: [], via: 'tool' });
    await rig.endTurn('w01');
    expect(items()).toEqual([asked]);
    rig.instruct('w01', 'red');
    expect(items()).toEqual([]);
  });

  it('is a text that nothing proves to be taken, until the worker took it after all or got another', async () => {
    await rig.start('w01');
    rig.backend.sending('w01').unconfirmed('> task of w01');
    await rig.calm();
    expect(items()).toMatchObject([
      {
        kind: 'unconfirmed',
        text: 'nothing proves that it was taken: task of w01\n> task of w01',
        prompt_hash: null,
      },
    ]);
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    expect(items()).toEqual([]);
  });

  it('is a text held for what a person typed, once they left it there', async () => {
    await rig.start('w01');
    rig.backend.sending('w01').held('human_draft');
    expect(listed()).toEqual([]);
    await rig.clock.advance(DRAFT_MS);
    expect(listed()).toEqual(['w01 held']);
    rig.backend.sending('w01').submitted();
    await rig.calm();
    expect(listed()).toEqual([]);
  });

  it('is a lead that nothing will wake', async () => {
    await rig.working(LEAD_ID);
    waits(LEAD_ID, 'report');
    expect(listed()).toEqual(['lead stuck']);
  });

  it('is no longer what an ended worker waited for', async () => {
    await rig.working('w01');
    waits('w01', 'permission');
    append('worker.lost', 'w01', { reason: 'x' });
    expect(items()).toEqual([]);
  });
});

describe('an answer', () => {
  const request = { fact: 'permission_requested', tool: 'Bash', text: 'rm -rf build' } as const;

  it('goes to the request that is parked, by its hash', async () => {
    await rig.working('w01');
    const parked = rig.hook('w01', request);
    await rig.calm();
    const [item] = items();
    expect(await answer({ promptHash: item?.prompt_hash ?? '', choice: 2, message: 'no' })).toEqual({
      evidence: 'protocol',
      messageId: null,
    });
    expect(await parked).toEqual({ allow: false, message: 'no' });
    expect(items()).toEqual([]);
  });

  it('goes to the screen where only the screen shows it', async () => {
    await rig.working('w01');
    waits('w01', 'dialog', prompt);
    rig.backend.onAnswer = () => ({ outcome: 'answered', evidence: 'screen' });
    expect(await answer({ promptHash: 'aaaabbbbcccc', choice: 1 })).toMatchObject({ evidence: 'screen' });
    expect(rig.backend.answers).toEqual([{ workerId: 'w01', promptHash: 'aaaabbbbcccc', choice: 1 }]);
  });

  it('in words goes to the worker that asked, as a message', async () => {
    await rig.working('w01');
    rig.engine.ask('w01', 'red or blue?');
    const hash = items()[0]?.prompt_hash ?? '';
    const { messageId } = await answer({ promptHash: hash, text: 'blue' });
    expect(rig.messages('w01').find(({ message_id: id }) => id === messageId)).toMatchObject({
      text: 'blue',
      sender: 'cli',
    });
    expect((await failure(answer({ promptHash: hash, text: 'red' }))).code).toBe('NOTHING_WAITS');
  });

  it('to another prompt than the one that is there is refused, with that one', async () => {
    await rig.working('w01');
    void rig.hook('w01', request);
    await rig.calm();
    const error = await failure(answer({ promptHash: 'old', choice: 1 }));
    expect([error.code, error.message]).toEqual(['PROMPT_CHANGED', expect.stringContaining('rm -rf build')]);
    expect(error.hint).toContain(
      `its prompt hash is ${items()[0]?.prompt_hash}, its choices are: 1 Yes, 2 No`,
    );
  });

  it('says what the screen shows by now, when that is newer than what is recorded', async () => {
    await rig.working('w01');
    waits('w01', 'permission', prompt);
    const shown = { text: 'a newer one', choices: YES_NO, promptHash: 'newer', consented: null };
    rig.backend.onAnswer = () => ({ outcome: 'changed', shown });
    const error = await failure(answer({ promptHash: 'aaaabbbbcccc', choice: 1 }));
    expect([error.code, error.params]).toMatchObject([
      'PROMPT_CHANGED',
      { text: 'a newer one', prompt_hash: 'newer' },
    ]);
  });

  it.each([
    ['UNKNOWN_WORKER', { workerId: 'w09', choice: 1 }],
    ['INVALID_INPUT', {}],
    ['INVALID_INPUT', { choice: 1, text: 'x' }],
    ['NOTHING_WAITS', { choice: 1, promptHash: 'x' }],
    ['NOTHING_WAITS', { text: 'x', promptHash: 'x' }],
  ])('is %s for %j when nothing waits', async (code, given) => {
    await rig.working('w01');
    expect((await failure(answer(given))).code).toBe(code);
  });

  it('with a message that would not reach the agent is refused, and nothing is answered', async () => {
    await rig.working('w01');
    waits('w01', 'permission', prompt);
    const at = { promptHash: 'aaaabbbbcccc', choice: 2, message: 'not today' };
    expect((await failure(answer(at))).message).toContain('answered by keys, which carry no message');
    expect(rig.backend.answers).toEqual([]);
  });

  it('that the prompt does not take is refused with what it takes', async () => {
    await rig.working('w01');
    waits('w01', 'permission', prompt);
    const at = { promptHash: 'aaaabbbbcccc' };
    for (const given of [{ choice: 7 }, { text: 'yes' }]) {
      const error = await failure(answer({ ...at, ...given }));
      expect([error.code, error.hint]).toEqual([
        'NO_SUCH_CHOICE',
        'it takes one of its choices: 1 Yes, 2 No',
      ]);
    }
    await rig.working('w02');
    rig.engine.ask('w02', 'red or blue?');
    const hash = items().find(({ worker_id: id }) => id === 'w02')?.prompt_hash ?? '';
    const error = await failure(answer({ workerId: 'w02', promptHash: hash, choice: 1 }));
    expect([error.code, error.hint]).toEqual(['NO_SUCH_CHOICE', 'it takes a text']);
    expect(rig.backend.answers).toEqual([]);
  });

  it.each([
    ['ANSWER_UNCONFIRMED', { outcome: 'unconfirmed', screen: 'still there' }],
    ['NOT_ANSWERABLE', { outcome: 'refused', reason: 'input is off' }],
  ] as const)('is %s when the pane says so', async (code, outcome) => {
    await rig.working('w01');
    waits('w01', 'permission', prompt);
    rig.backend.onAnswer = () => outcome;
    expect((await failure(answer({ promptHash: 'aaaabbbbcccc', choice: 1 }))).code).toBe(code);
  });

  it('to a worker that is over is refused', async () => {
    await rig.working('w01');
    append('worker.lost', 'w01', { reason: 'x' });
    expect((await failure(answer({ choice: 1 }))).code).toBe('WORKER_NOT_RUNNING');
  });
});

describe('a lead', () => {
  const call = (operation: string, input: object, allowed: boolean) => {
    fake = createFakeSession(rig, { plan: { lead_may_answer: allowed } });
    const caller = { scope: 'lead', workerId: LEAD_ID, name: 'lead', callLimitMs: 1_000 } as const;
    const { signal } = new AbortController();
    return callOperation(OPERATIONS, fake.session, { operation, input, caller, signal });
  };
  const input = { worker_id: 'w01', prompt_hash: 'x', choice: 1 };

  it('may not look or answer for the person unless the user said so', async () => {
    for (const [operation, given] of [['list_attention', {}] as const, ['answer_worker', input] as const]) {
      const error = await failure(call(operation, given, false));
      expect([error.code, error.exitCode]).toEqual(['LEAD_MAY_NOT_ANSWER', 4]);
      expect(error.hint).toContain('--lead-may-answer');
    }
  });

  it('that may is named as the one who answered', async () => {
    await rig.working('w01');
    const parked = rig.hook('w01', { fact: 'permission_requested', tool: 'Bash', text: 'ls' });
    await rig.calm();
    const {
      items: [item],
    } = (await call('list_attention', {}, true)) as { items: AttentionItem[] };
    await call('answer_worker', { ...input, prompt_hash: item?.prompt_hash }, true);
    expect(await parked).toMatchObject({ allow: true });
    const answered = rig.events().find(({ type }) => type === 'permission.answered');
    expect(answered).toMatchObject({
      source: 'hook',
      evidence: 'protocol',
      data: { answer: 'Yes', by: 'lead' },
    });
  });
});

describe('whoever looks', () => {
  const look = () => rig.clock.advance(50);

  it('is called once for each new thing that waits, not when one goes or is known better', async () => {
    await rig.working('w01');
    const seen: string[][] = [];
    const stop = followAttention(fake.session, fake.live, (now) => seen.push(now.map(({ kind }) => kind)));
    waits('w01', 'question');
    waits('w01', 'question', prompt);
    await look();
    append('worker.working', 'w01', {});
    await look();
    waits('w01', 'permission', prompt);
    await look();
    stop();
    waits('w01', 'login');
    await look();
    expect([rig.backend.bells, seen]).toEqual([2, [['question'], [], ['permission']]]);
  });

  it('is called for a draft that was left behind', async () => {
    await rig.start('w01');
    const stop = followAttention(fake.session, fake.live, () => undefined);
    rig.backend.sending('w01').held('human_draft');
    await look();
    expect(rig.backend.bells).toBe(0);
    await rig.clock.advance(DRAFT_MS);
    await look();
    expect(rig.backend.bells).toBe(1);
    stop();
  });

  it('reads it in the status line, before everything else', async () => {
    await rig.working('w01');
    const stop = followLabels(fake.session, fake.live);
    waits('w01', 'permission', prompt);
    await look();
    expect(rig.backend.labels.get('')).toMatch(/^1 waiting: w01 permission {2}\| {2}make it faster/);
    append('worker.working', 'w01', {});
    await look();
    expect(rig.backend.labels.get('')).toMatch(/^make it faster/);
    stop();
  });
});
