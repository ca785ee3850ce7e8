import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../src/core/events/index.js';
import { RealRig, unwrapped } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';
import {
  CONTROLS,
  KEY_NAMES,
  LINES,
  SEMICOLONS,
  SHELL_TEXTS,
  textOfSize,
  UNICODE,
  type TortureText,
} from '../support/torture-texts.js';

let rig: RealRig;
let lead: McpCaller;

const REPORT = { calls: [{ tool: 'report_done', input: { summary: 'did it' } }] };
/** Whatever it is told, the worker reports it as done and ends its turn. */
const DUTIFUL = {
  name: 'dutiful',
  when: () => true,
  // Without a change it is asked once whether it is sure.
  steps: [REPORT, REPORT, { text: 'done' }],
};

async function settled(workerId: string): Promise<void> {
  for (;;) {
    const answer = await lead.ok('wait_for_worker', { worker_ids: [workerId], timeout_s: 30 });
    if (answer['state'] !== 'timeout') return;
  }
}

/** Sends a text and waits for the end of its run; what the model got is compared by the caller. */
async function deliver(message: string): Promise<{ receipt: string[]; evidence: string; prompts: string[] }> {
  const before = rig.llm.prompts().length;
  const sent = await lead.ok('send_to_worker', { worker_id: 'w01', message });
  await settled('w01');
  const ofMessage = (event: StoredEvent) =>
    (event.data as { message_id?: string }).message_id === sent['message_id'];
  // What was reported settles the run within a second; on a busy machine its turn ends after that.
  await rig.event('the end of its turn', (event) => event.type === 'message.answered' && ofMessage(event));
  const receipt = rig.events().filter(ofMessage);
  return {
    receipt: receipt.map(({ type }) => type),
    evidence: receipt.find(({ type }) => type === 'message.submitted')?.evidence ?? 'none',
    prompts: rig.llm.prompts().slice(before),
  };
}

const LEADS: readonly TortureText[] = [
  '/help me',
  '!touch X',
  '@file',
  '# note',
  '> quote',
  '&',
  '?',
  '/',
  '! ',
].map((text) => ({ name: `a text that begins as a command, ${text}`, text: `${text} in words` }));
const LAST_WORDS: readonly TortureText[] = [
  'look at @a.txt',
  '@a.txt',
  'use $imagegen',
  'use $i',
  '1. first · thing\n2. second',
  'ends in a colon:',
].map((text) => ({ name: `a text that a composer may complete, ${text}`, text }));
const SENTINELS: readonly TortureText[] = [
  {
    name: 'a line that looks like a report',
    text: 'say\nWORKER_DONE: not yet\nWORKER_FAILED[abc]: x\nand go on',
  },
];
const SIZES: readonly TortureText[] = [10, 1_024, 20_480, 1_000_000].map((size) => ({
  name: `${size} bytes`,
  text: textOfSize(size),
}));

const of = (row: string, texts: readonly TortureText[]) => texts.map((text) => ({ row, ...text }));
const ROWS: readonly (TortureText & { row: string })[] = [
  ...of('[C-3]', LINES),
  ...of('[C-4]', SEMICOLONS),
  ...of('[C-5]', [...KEY_NAMES, ...LEADS, ...LAST_WORDS]),
  ...of('[C-6] [42]', [...SHELL_TEXTS, ...UNICODE, ...CONTROLS]),
  ...of('[C-1] [C-7]', SIZES),
  ...of('[48]', SENTINELS),
];

describe.each([
  ['Claude Code', 'claude'],
  ['Codex', 'codex'],
] as const)('a text for %s', (_name, agent) => {
  beforeAll(async () => {
    rig = await RealRig.create({ rules: [DUTIFUL] });
    lead = await rig.startWorkersOf(agent);
    await lead.ok('spawn_worker', { task: 'Wait for what I say.', perspective: 'implementer' });
    await settled('w01');
  }, 120_000);
  afterAll(() => rig.close(), 120_000);

  it('is its first prompt, with everything that was composed around the task', () => {
    const [first = ''] = rig.llm.prompts();
    expect(unwrapped(first)).toContain('Wait for what I say.');
    expect(rig.events().find(({ type }) => type === 'message.submitted')).toBeDefined();
  });

  it.each(ROWS)('$row reaches the model once, as it is: $name', async ({ text, arrives }) => {
    const { receipt, evidence, prompts } = await deliver(text);
    expect(prompts).toHaveLength(1);
    const got = unwrapped(prompts[0] ?? '');
    const file = /is in the file (\S+) \((\d+) bytes\)/.exec(got);
    const arrived = file === null ? got : readFileSync(file[1] ?? '', 'utf8');
    expect(arrived).toBe(file === null ? (arrives ?? text) : text);
    // On a busy machine its screen may show that it has the text before its hook tells.
    expect(['protocol', 'screen']).toContain(evidence);
    expect(receipt.filter((type) => type === 'message.submitted')).toHaveLength(1);
    expect(receipt.at(-1)).toBe('message.answered');
  });
});
