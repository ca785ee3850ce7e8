import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STREAM_FORMATS } from '../../../src/agents/contract.js';
import type { Said } from '../../../src/backends/contract.js';
import { READERS } from '../../../src/backends/headless/formats/index.js';

const linesOf = (name: string) =>
  readFileSync(new URL(`../../fixtures/streams/${name}.jsonl`, import.meta.url), 'utf8').split('\n');
const read = (format: (typeof STREAM_FORMATS)[number], lines: readonly string[]): Said[] => {
  const reader = READERS[format]();
  return lines.flatMap((line) => reader.line(line));
};
const whole = (said: readonly Said[]) => said.filter((one) => !('delta' in one) || !one.delta);

describe('what Claude Code says without a terminal (recorded)', () => {
  const said = read('stream-json', linesOf('claude/2.1.197/tool'));

  it('begins with its conversation and the proof that it has the prompt, and ends with the terminal word', () => {
    expect(said.slice(0, 2)).toEqual([
      { said: 'thread', threadId: '4ef41c0e-328d-434c-8f38-4ca74259cbb2' },
      { said: 'prompt_taken' },
    ]);
    expect(said.at(-1)).toMatchObject({ said: 'turn_ended' });
  });

  it('has every block whole once, after its pieces', () => {
    const blocks = whole(said).flatMap((one) =>
      one.said === 'text' || one.said === 'reasoning' ? [one] : [],
    );
    for (const block of blocks) {
      const pieces = said.flatMap((one) =>
        (one.said === 'text' || one.said === 'reasoning') && one.said === block.said && one.delta
          ? [one.text]
          : [],
      );
      expect(pieces.join('')).toContain(block.text);
    }
    expect(blocks.length).toBeGreaterThan(0);
  });

  it('has its tool call and what it gave', () => {
    expect(said.find((one) => one.said === 'tool_called')).toMatchObject({
      tool: 'Bash',
      input: { command: 'echo hi-from-tool' },
    });
    expect(said.find((one) => one.said === 'tool_returned')).toMatchObject({ isError: false });
  });
});

describe('what Codex says without a terminal (recorded)', () => {
  it('is a conversation, the proof of the prompt, calls, words, use and the terminal word', () => {
    expect(read('thread-jsonl', linesOf('codex/0.171.0/tool')).map(({ said }) => said)).toEqual([
      'thread',
      'note',
      'prompt_taken',
      'tool_called',
      'tool_returned',
      'text',
      'usage',
      'turn_ended',
    ]);
  });

  it('goes on in the same conversation', () => {
    const [first] = read('thread-jsonl', linesOf('codex/0.171.0/tool'));
    const [again] = read('thread-jsonl', linesOf('codex/0.171.0/resumed'));
    expect(again).toEqual(first);
  });

  it('fails with the words of the error, not with its body', () => {
    expect(read('thread-jsonl', linesOf('codex/0.171.0/failed')).at(-1)).toEqual({
      said: 'turn_failed',
      text: 'no such model',
      kind: null,
    });
  });

  it('waits for a login where the key is refused', () => {
    expect(read('thread-jsonl', linesOf('codex/0.171.0/unauthorized')).at(-1)).toMatchObject({
      said: 'turn_failed',
      kind: 'login',
    });
  });

  it('says that a command failed in its sandbox', () => {
    expect(
      read('thread-jsonl', linesOf('codex/0.171.0/sandbox')).find((one) => one.said === 'tool_returned'),
    ).toMatchObject({ isError: true });
  });
});

describe.each(STREAM_FORMATS)('a reader of %s', (format) => {
  it('says nothing of what it does not know, and never throws', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          type: fc.constantFrom(
            'assistant',
            'user',
            'system',
            'result',
            'stream_event',
            'item.completed',
            'turn.failed',
            'error',
          ),
          message: fc.anything(),
          item: fc.anything(),
          event: fc.anything(),
          error: fc.anything(),
        })
        .map((value) => {
          try {
            return JSON.stringify(value) ?? '';
          } catch {
            return '';
          }
        }),
    );
    fc.assert(
      fc.property(fc.array(anything), (lines) => {
        expect(Array.isArray(read(format, lines))).toBe(true);
      }),
    );
  });

  it('reads the same of the same lines, cut anywhere', () => {
    const name = format === 'stream-json' ? 'claude/2.1.197/tool' : 'codex/0.171.0/tool';
    const lines = linesOf(name);
    for (let at = 0; at < lines.length; at++)
      expect(read(format, lines.slice(0, at))).toEqual(
        read(format, lines).slice(0, read(format, lines.slice(0, at)).length),
      );
  });
});
