import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say, type Answer } from '../support/mock-llm/program.js';
import { says, type Step } from '../support/mock-llm/reply.js';
import { personAt, type Person } from '../support/person.js';
import { ALLOWED } from '../support/real-agents/crew.js';
import { RealRig, type RealWorldOptions } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: RealRig;
let lead: McpCaller;
let me: Person;
afterEach(() => rig.close(), 120_000);

const cut = (text: string) => text.slice(0, 300);
/** Its client may have lost us with the supervisor, for some seconds: whoever is asked again writes its report as a line. */
function* report(reason: string): Generator<Step, void, Answer> {
  const { results } = yield call('report_blocked', { reason });
  const { prompt } = yield say('done');
  const [line] = /WORKER_BLOCKED\[\w+\]/.exec(prompt) ?? [];
  if (results[0]?.isError === true && line !== undefined) yield say(`${line}: ${reason}`);
}
const RULES = [
  program('gate', says('needs permission'), function* () {
    const { results } = yield bash('date +%Y');
    yield* report(results[0]?.isError === true ? 'refused' : 'allowed');
  }),
  program('twice', says('needs it twice'), function* () {
    yield bash('date +%Y');
    yield bash('date +%m');
    yield* report('both were given');
  }),
  program('question', says('ask the person'), function* () {
    const options = [
      { label: 'Red', description: 'like fire' },
      { label: 'Blue', description: 'like water' },
    ];
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }];
    const { results } = yield call('AskUserQuestion', { questions });
    yield* report(cut(results[0]?.text ?? ''));
  }),
];

async function begin(task: string, world: RealWorldOptions = {}): Promise<void> {
  rig = await RealRig.create({ rules: RULES, settings: ALLOWED, ...world });
  lead = await rig.startWorkersOf('claude', { bypass_permissions: false });
  me = personAt(rig);
  await lead.ok('spawn_worker', { task, perspective: 'implementer' });
}
/** What the worker reported in the end. */
const ended = async (): Promise<unknown> => {
  const { data } = await rig.event('report', ({ type }) => type === 'run.blocked');
  return data;
};
/** A screen draws when it likes: no event tells of it. */
const seen = (pattern: RegExp) => expect.poll(() => me.screen('w01'), { timeout: 60_000 }).toMatch(pattern);
const moment = () => new Promise((resolve) => setTimeout(resolve, 1_000));

describe('a permission of Claude Code', () => {
  it('is given through its hook, without a key', async () => {
    await begin('needs permission');
    const item = await me.item('w01');
    expect(item).toMatchObject({ kind: 'permission', text: 'Bash: date +%Y', via: 'hook' });
    expect(await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice: 1 })).toMatchObject({
      body: { answered: true, evidence: 'protocol' },
    });
    expect(await ended()).toEqual({ summary: 'allowed' });
    expect(me.answered('w01')).toMatchObject([{ answer: 'Yes', by: 'person', evidence: 'protocol' }]);
  });

  it('is refused through its hook, with a word that reaches the model', async () => {
    await begin('needs permission');
    const { prompt_hash } = await me.item('w01');
    await me.answer({ worker_id: 'w01', prompt_hash, choice: 2, message: 'not on a Saturday' });
    expect(await ended()).toEqual({ summary: 'refused' });
    expect(JSON.stringify(rig.llm.requests)).toContain('not on a Saturday');
  });

  it('is given in the pane as well; the next one waits anew', async () => {
    await begin('needs it twice');
    await me.item('w01', '%Y');
    await seen(/Do you want to proceed/);
    await moment();
    me.press('w01', '1');
    const second = await me.item('w01', '%m');
    expect(second.via).toBe('hook');
    await me.answer({ worker_id: 'w01', prompt_hash: second.prompt_hash, choice: 1 });
    expect(await ended()).toEqual({ summary: 'both were given' });
    expect(me.answered('w01').map(({ answer }) => answer)).toEqual(['given at the agent', 'Yes']);
  });

  it('refused in the pane ends the turn without a hook; the worker is asked for its report all the same', async () => {
    await begin('needs permission');
    await me.item('w01');
    await seen(/Do you want to proceed/);
    await moment();
    me.press('w01', 'Escape');
    expect(await ended()).toEqual({ summary: 'refused' });
    expect(me.answered('w01').map(({ answer }) => answer)).toEqual(['given at the agent']);
    expect(await me.items()).toEqual([]);
  });
});

describe('a permission of Claude Code that stands', () => {
  it('[C-10] gets no key of a message, however long it stands; the message comes after it', async () => {
    await begin('needs permission');
    const item = await me.item('w01');
    await seen(/Do you want to proceed/);
    const message = await lead.ok('send_to_worker', { worker_id: 'w01', message: 'and the same again' });
    await moment();
    expect(me.screen('w01')).toMatch(/Do you want to proceed/);
    const receipt = () =>
      rig
        .events()
        .filter(({ data }) => (data as { message_id?: string }).message_id === message['message_id'])
        .map(({ type }) => type);
    expect(receipt()).not.toContain('message.typed');
    await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice: 1 });
    expect(await ended()).toEqual({ summary: 'allowed' });
    await rig.event('the message', () => receipt().includes('message.submitted'));
    await rig.llm.request(({ exchange }) => exchange?.prompt === 'and the same again');
    expect(rig.llm.prompts()).toHaveLength(2);
  });

  it('is there again after the supervisor was killed with -9, and is answered at the agent', async () => {
    await begin('needs permission');
    await me.item('w01');
    await seen(/Do you want to proceed/);
    await rig.crash();
    await rig.takeUp();
    // Its hook is gone with the supervisor: what is there now is what its screen shows.
    const item = await me.item('w01', 'Bash command');
    expect(item).toMatchObject({ kind: 'permission', text: expect.stringContaining('date') });
    const yes = item.choices.find(({ label }) => label === 'Yes')?.number;
    expect(await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice: yes })).toMatchObject({
      body: { answered: true },
    });
    expect(await ended()).toEqual({ summary: 'allowed' });
    expect(rig.llm.prompts()).toHaveLength(1);
    // Nobody else has, and nobody is said to have.
    expect(me.answered('w01').map(({ answer, by }) => [answer, by])).toEqual([['Yes', 'person']]);
  });

  it('being amended in the pane is the person’s to finish; it is not said to be answered before', async () => {
    await begin('needs permission');
    await me.item('w01');
    await seen(/Do you want to proceed/);
    await moment();
    me.press('w01', 'Tab');
    me.press('w01', '-l', 'only on monday');
    await seen(/only on monday/);
    await moment();
    expect(me.answered('w01')).toEqual([]);
    me.press('w01', 'Enter');
    expect(await ended()).toEqual({ summary: 'allowed' });
    expect(me.answered('w01').map(({ answer }) => answer)).toEqual(['given at the agent']);
  });
});

describe('[C-19] dialogs of Claude Code', () => {
  it('a question is answered by its digit', async () => {
    await begin('ask the person');
    await me.item('w01', 'Blue');
    const item = await me.item('w01', 'Blue');
    expect(item).toMatchObject({ kind: 'question', via: 'screen' });
    const choice = item.choices.find(({ label }) => label.startsWith('Blue'))?.number;
    expect(await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice })).toMatchObject({
      body: { answered: true, evidence: 'screen' },
    });
    expect(JSON.stringify(await ended())).toContain('Blue');
  });

  it('trust in the folder is answered once, by what the user agreed to; which key pays is asked', async () => {
    await begin('needs permission', { trusted: false, keyApproved: false });
    const key = await me.item('w01', 'API key');
    expect(key).toMatchObject({ kind: 'login', via: 'screen' });
    const yes = key.choices.find(({ label }) => label.startsWith('Yes'))?.number;
    expect(await me.answer({ worker_id: 'w01', prompt_hash: key.prompt_hash, choice: yes })).toMatchObject({
      body: { answered: true, evidence: 'screen' },
    });
    const item = await me.item('w01', 'date +%Y');
    await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice: 1 });
    expect(await ended()).toEqual({ summary: 'allowed' });
    expect(me.answered('w01').map(({ by }) => by)).toEqual(
      expect.arrayContaining(['agreed to beforehand: trust in the project', 'person']),
    );
  });
});
