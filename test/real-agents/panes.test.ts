import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { says } from '../support/mock-llm/reply.js';
import { personAt, type Person } from '../support/person.js';
import { ALLOWED, REPORTS } from '../support/real-agents/crew.js';
import { RealRig } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: RealRig;
let lead: McpCaller;
let me: Person;
/** Holds turns open until the test lets them go. */
let release: () => void = () => undefined;
let open = new Promise<void>(() => undefined);
const hold = () => void (open = new Promise((resolve) => (release = resolve)));

const RULES = [
  {
    name: 'slow',
    when: says('take your time'),
    steps: [() => ({ text: 'at last', until: open })],
  },
  REPORTS,
];

const send = (message: string) => lead.ok('send_to_worker', { worker_id: 'w01', message });
const ended = () => lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 60 });
const moment = () => new Promise((resolve) => setTimeout(resolve, 1_000));

describe.each([
  ['Claude Code', 'claude'],
  ['Codex', 'codex'],
] as const)('a pane of %s', (_name, agent) => {
  beforeAll(async () => {
    rig = await RealRig.create({ rules: RULES, settings: ALLOWED });
    lead = await rig.startWorkersOf(agent, { bypass_permissions: false });
    me = personAt(rig);
    await lead.ok('spawn_worker', { task: 'report first', perspective: 'implementer' });
    await ended();
  }, 120_000);
  afterAll(() => rig.close(), 120_000);

  it('[C-9] with a draft of a person: what we send is held, said to be held, and comes when it is gone', async () => {
    me.press('w01', '-l', 'my own unfinished thought');
    await me.until('the draft', () => /my own unfinished/.test(me.screen('w01')));
    await moment();
    const { message_id: id } = await send('report after the draft');
    const held = await rig.event(
      'hold',
      ({ type, data }) => type === 'message.held' && (data as { message_id: string }).message_id === id,
    );
    expect(held.data).toMatchObject({ reason: 'human_draft' });
    expect(me.screen('w01')).toMatch(/[❯›]\s+my own unfinished thought\n/);
    me.press('w01', 'C-u');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'report after the draft' });
    expect(rig.llm.prompts().filter((prompt) => /unfinished/.test(prompt))).toEqual([]);
  });

  it('[C-8] that somebody scrolled takes nothing from us: copy-mode is left, the text arrives', async () => {
    me.tmux('copy-mode', '-t', rig.pane('w01'));
    await send('report despite the scrolling');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'report despite the scrolling' });
  });

  it('takes what a person says at any time, and the model gets exactly that', async () => {
    me.press('w01', '-l', 'hello from the person');
    await me.until('the text', () => /hello from the person/.test(me.screen('w01')));
    me.press('w01', 'Enter');
    await rig.llm.request(({ exchange }) => exchange?.prompt === 'hello from the person');
    await send('report what we sent');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'report what we sent' });
  });

  it('[C-15] that is at work gets what is sent meanwhile afterwards, in order, each once', async () => {
    hold();
    await send('take your time');
    await rig.llm.request(({ rule }) => rule === 'slow');
    const before = rig.llm.prompts().length;
    const sent: Record<string, unknown>[] = [];
    for (const n of [1, 2, 3]) sent.push(await send(`report number ${n}`));
    await moment();
    expect(rig.llm.prompts()).toHaveLength(before);
    release();
    await me.until('the last', () => rig.receipt(sent[2]?.['message_id']).includes('answered'), 60_000);
    const after = rig.llm
      .prompts()
      .slice(before)
      .filter((prompt) => prompt.startsWith('report number'));
    expect(after).toEqual(['report number 1', 'report number 2', 'report number 3']);
    expect(
      sent.map(({ message_id: id }) => rig.receipt(id).filter((step) => step === 'submitted').length),
    ).toEqual([1, 1, 1]);
  });

  it('[49] [53] answers for the new instruction, not with the result of the old one', async () => {
    await send('report the second');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'report the second' });
    const { output } = await lead.ok('read_worker_output', { worker_id: 'w01', tail_lines: 20 });
    expect(String(output)).toContain('report the second');
    expect(String(output).split('\n').length).toBeLessThanOrEqual(20);
  });

  it('[C-2] the same key with the same text is one message, however often and at once it is sent', async () => {
    const before = rig.llm.prompts().length;
    const once = () =>
      lead.ok('send_to_worker', { worker_id: 'w01', message: 'report just once', idempotency_key: 'k1' });
    const answers = await Promise.all([once(), once(), once()]);
    expect(new Set(answers.map(({ message_id: id }) => id)).size).toBe(1);
    expect(await ended()).toMatchObject({ state: 'done', summary: 'report just once' });
    await once();
    await moment();
    expect(rig.llm.prompts().slice(before)).toEqual(['report just once']);
  });

  it('[C-11] eight messages sent at once arrive whole, one after the other', async () => {
    const before = rig.llm.prompts().length;
    const texts = Array.from({ length: 8 }, (_, n) => `report ${String(n).repeat(200)}`);
    const sent = await Promise.all(texts.map((text) => send(text)));
    await me.until(
      'the last answer',
      () => sent.every(({ message_id: id }) => rig.receipt(id).includes('answered')),
      90_000,
    );
    // Sent at once, they have no order but the one in which they were accepted.
    const accepted = rig
      .events()
      .filter(({ type }) => type === 'message.accepted')
      .map(({ data }) =>
        sent.findIndex(({ message_id: id }) => id === (data as { message_id: string }).message_id),
      )
      .filter((index) => index !== -1);
    expect(rig.llm.prompts().slice(before)).toEqual(accepted.map((index) => texts[index]));
  });

  it('[C-12] in all of that, nothing of ours has pressed Escape at it', () => {
    const asked = JSON.stringify(rig.llm.requests.map(({ body }) => body));
    expect(asked).toContain('report just once');
    expect(asked).not.toMatch(/Request interrupted by user|turn_aborted/);
  });
});
