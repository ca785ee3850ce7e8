import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../src/agents/claude.js';
import { codex } from '../../../src/agents/codex.js';
import type { Said } from '../../../src/backends/contract.js';
import { READERS } from '../../../src/backends/headless/formats/index.js';

const FOLDERS = {
  'stream-json': 'claude/2.1.332',
  'thread-jsonl': 'codex/0.171.0',
} as const;
type StreamFormat = keyof typeof FOLDERS;
const folderOf = (format: StreamFormat) =>
  new URL(`../../fixtures/streams/${FOLDERS[format]}/`, import.meta.url);

function read(format: StreamFormat, name: string): readonly Said[] {
  const reader = READERS[format]();
  const text = readFileSync(new URL(`${name}.jsonl`, folderOf(format)), 'utf8');
  return text.split('\n').flatMap((line) => reader.line(line));
}

/** One line for each thing said, the pieces of a block together. */
function told(format: StreamFormat, name: string): readonly string[] {
  const lines = read(format, name).map(inShort);
  return lines.filter((line, index) => !line.endsWith(' pieces') || lines[index + 1] !== line);
}

function inShort(said: Said): string {
  switch (said.said) {
    case 'thread':
      return 'thread';
    case 'prompt_taken':
      return 'prompt_taken';
    case 'text':
    case 'reasoning':
      return said.delta ? `${said.said} pieces` : `${said.said}: ${said.text}`;
    case 'tool_called':
      return `called ${said.tool}`;
    case 'tool_returned':
      return `${said.isError ? 'error' : 'returned'}: ${said.output.trim().split('\n')[0]?.slice(0, 40)}`;
    case 'usage':
      return `usage ${said.inputTokens} ${said.outputTokens}`;
    case 'denied':
      return `denied ${said.tool}: ${said.text.slice(0, 40)}`;
    case 'note':
      return `note: ${said.text.slice(0, 60)}`;
    case 'turn_ended':
      return `${said.goesOn === true ? 'ended, goes on' : 'ended'}: ${said.text}`;
    case 'turn_failed':
      return `failed (${said.kind}): ${said.text.split('\n')[0]}`;
  }
}

const BEGIN = ['thread', 'prompt_taken'];
const NO_METADATA = 'note: Model metadata for `mock-model` not found. Defaulting to fal';
const CODEX_BEGIN = ['thread', NO_METADATA, 'prompt_taken'];

describe('what Claude Code 2.1.332 says without a terminal', () => {
  it.each<[string, readonly string[]]>([
    [
      'plain',
      [
        ...['reasoning pieces', 'reasoning: Let me think.', 'text pieces', 'text: Hello there.'],
        ...['usage 10 28', 'ended: Hello there.'],
      ],
    ],
    [
      'tool',
      [
        'text pieces',
        'text: First I look.',
        'called Bash',
        'returned: hi-from-tool',
        'text pieces',
        'text: It said hi.',
        'usage 20 56',
        'ended: It said hi.',
      ],
    ],
    [
      'failing-tool',
      [
        'called Bash',
        'error: Exit code 3',
        'text pieces',
        'text: It failed.',
        'usage 20 48',
        'ended: It failed.',
      ],
    ],
    [
      'mcp',
      [
        'called mcp__agentorchestr__echo',
        'returned: {"echoed":"from-mcp"}',
        'text pieces',
        'text: The server answered.',
        'usage 20 44',
        'ended: The server answered.',
      ],
    ],
    [
      'mcp-down',
      [
        'note: its MCP server agentorchestr failed',
        'reasoning pieces',
        'reasoning: Let me think.',
        'text pieces',
        'text: Hello there.',
        'usage 10 28',
        'ended: Hello there.',
      ],
    ],
    [
      'retry',
      [
        'note: its model did not answer: overloaded (529); retry 1 of 1',
        'text pieces',
        'text: After a retry.',
        'usage 10 11',
        'ended: After a retry.',
      ],
    ],
  ])('%s', (name, expected) => {
    expect(told('stream-json', name)).toEqual([...BEGIN, ...expected]);
  });

  it('refuses by its own gate what nobody could be asked about, and says so once', () => {
    expect(told('stream-json', 'denied').filter((line) => line.startsWith('denied'))).toEqual([
      "denied Bash: Output redirection to '/repo/p.txt' need",
    ]);
  });

  it('does not call refused what a person said no to', () => {
    const said = told('stream-json', 'denied-by-hook');
    expect(said).toContain('error: not today');
    expect(said.filter((line) => line.startsWith('denied'))).toEqual([]);
  });

  it.each([
    ['api-error', 'failed (null): API Error: 400 mock failure 400'],
    ['auth', 'failed (login): Invalid API key · Fix external API key'],
    ['not-logged-in', 'failed (login): Not logged in · Please run /login'],
    ['quota', 'failed (quota): API Error: Request rejected (429) · rate limited'],
    ['billing', 'failed (quota): Credit balance is too low'],
    ['interrupted', 'failed (null): it was interrupted'],
  ])('%s is a failed turn, and its error no words of the agent', (name, last) => {
    const said = told('stream-json', name);
    expect(said.at(-1)).toBe(last);
    expect(said.filter((line) => line.startsWith('text'))).toEqual([]);
  });

  it('went on because its Stop hook said so: one turn, one end', () => {
    expect(told('stream-json', 'stop-blocked').filter((line) => line.startsWith('ended'))).toEqual([
      'ended: ok',
    ]);
  });

  it('is woken by what it left in the background: the first end is not the last', () => {
    expect(told('stream-json', 'background')).toEqual([
      ...BEGIN,
      ...['called Bash', 'returned: Command running in background with ID: b'],
      ...['text pieces', 'text: in the background', 'usage 20 54', 'ended, goes on: in the background'],
      ...['text pieces', 'text: ok', 'usage 10 8', 'ended: ok'],
    ]);
    const costs = read('stream-json', 'background').flatMap((one) =>
      one.said === 'usage' ? [Number(one.costUsd?.toFixed(6))] : [],
    );
    expect(costs).toEqual([0.00116, 0.0002]);
  });

  it('does not take what a sub-agent says for what it says itself', () => {
    const said = told('stream-json', 'sub-agent');
    expect(said.filter((line) => line.startsWith('text: '))).toEqual(['text: My agent is off.', 'text: ok']);
    expect(said.filter((line) => line.startsWith('ended'))).toEqual([
      'ended, goes on: My agent is off.',
      'ended: ok',
    ]);
  });

  it('goes on in its conversation', () => {
    expect(told('stream-json', 'resumed').slice(0, 2)).toEqual(BEGIN);
  });

  it('has no turn where it does not know the conversation: its standard error says so', () => {
    expect(told('stream-json', 'unknown-id')).toEqual([
      'note: No conversation found with session ID: 00000000-0000-4000-80',
    ]);
    const errors = claude.headless?.resumeErrors;
    expect('No conversation found with session ID: 00000000-0000-4000-8000-000000000001').toMatch(
      errors?.unknown ?? /^$/,
    );
    expect('Error: Session ID 00000000-0000-4000-8000-000000000001 is already in use.').toMatch(
      errors?.inUse ?? /^$/,
    );
  });
});

describe('what Codex 0.171.0 says without a terminal', () => {
  it.each<[string, readonly string[]]>([
    ['plain', ['reasoning: Let me think.', 'text: Hello there.', 'usage 10 5', 'ended: Hello there.']],
    [
      'failing-tool',
      ['called command_execution', 'error: oops', 'text: It failed.', 'usage 20 10', 'ended: It failed.'],
    ],
    [
      'mcp',
      [
        'called agentorchestr.echo',
        'returned: {"echoed":"from-mcp"}',
        'text: The server answered.',
        'usage 20 10',
        'ended: The server answered.',
      ],
    ],
    [
      'mcp-error',
      [
        'called agentorchestr.bad',
        'error: {"code":"NO_SUCH_THING"}',
        'text: The server said no.',
        'usage 20 10',
        'ended: The server said no.',
      ],
    ],
    [
      'patch',
      [
        'called file_change',
        'returned: update /repo/a.txt',
        'text: Patched.',
        'usage 20 10',
        'ended: Patched.',
      ],
    ],
    ['retry', ['text: after failures', 'usage 10 5', 'ended: after failures']],
  ])('%s', (name, expected) => {
    expect(told('thread-jsonl', name)).toEqual([...CODEX_BEGIN, ...expected]);
  });

  it('says that its sandbox refused a command, and that a tool of a server was not approved', () => {
    expect(told('thread-jsonl', 'denied')).toContain(
      'denied command_execution: /bin/bash: line 1: /nope.txt: Read-only ',
    );
    expect(told('thread-jsonl', 'mcp-unapproved')).toContain(
      'denied agentorchestr.echo: MCP tool call requires approval, but app',
    );
    expect(told('thread-jsonl', 'failing-tool').join()).not.toContain('denied');
  });

  it('tries again in the middle of a turn: only its last word is a failure', () => {
    const said = told('thread-jsonl', 'unauthorized');
    expect(said.filter((line) => line.startsWith('failed'))).toEqual([said.at(-1)]);
    expect(said.at(-1)).toMatch(/^failed \(login\): unexpected status 401 Unauthorized/);
  });

  it.each([
    ['quota', 'failed (quota): Quota exceeded. Check your plan and billing details.'],
    ['limited', 'failed (quota): You’ve hit your usage limit. Try again later.'],
  ])('%s waits for a person', (name, last) => {
    expect(told('thread-jsonl', name).at(-1)).toBe(last);
  });

  it('says on standard error that it does not know a thread, or that another process writes it', () => {
    const errors = codex.headless?.resumeErrors;
    const failed = 'Error: thread/resume: thread/resume failed:';
    const id = '01a21f0d-4584-7ba0-802d-1e08b455cd80';
    const unknown = `${failed} no rollout found for thread id ${id} (code -32600)`;
    const inUse = `${failed} thread ${id} already has an active writer (code -32600)`;
    expect([errors?.unknown?.test(unknown), errors?.unknown?.test(inUse)]).toEqual([true, false]);
    expect([errors?.inUse?.test(inUse), errors?.inUse?.test(unknown)]).toEqual([true, false]);
  });
});

describe.each(['stream-json', 'thread-jsonl'] as const)('a reader of %s', (format) => {
  const lines = readdirSync(folderOf(format)).flatMap((name) =>
    readFileSync(new URL(name, folderOf(format)), 'utf8').split('\n'),
  );

  it('never throws, whatever bytes and whatever kinds of values come', () => {
    const values = fc.oneof(
      fc.json(),
      fc.constantFrom('null', '1', '[]', '{}', '"x"', '{"toString":1,"valueOf":1}'),
    );
    const changed = fc.tuple(fc.constantFrom(...lines), fc.nat(), values).map(([line, at, value]) => {
      // Another value in the place of one that is there.
      const places = [...line.matchAll(/:("[^"]*"|\d+|true|false|null|\[\]|\{\})/g)];
      const place = places[at % Math.max(places.length, 1)];
      if (place === undefined) return line;
      return `${line.slice(0, place.index)}:${value}${line.slice(place.index + place[0].length)}`;
    });
    const bytes = fc.uint8Array().map((soup) => Buffer.from(soup).toString('utf8'));
    const halves = fc
      .tuple(fc.constantFrom(...lines), fc.nat())
      .map(([line, at]) => line.slice(0, at % (line.length + 1)));
    fc.assert(
      fc.property(fc.array(fc.oneof(changed, bytes, halves, fc.constantFrom(...lines))), (soup) => {
        const reader = READERS[format]();
        for (const line of soup) expect(Array.isArray(reader.line(line))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
