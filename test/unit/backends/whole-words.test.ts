import { expect, it } from 'vitest';
import type { Said } from '../../../src/backends/contract.js';
import { WholeWords } from '../../../src/backends/headless/whole-words.js';

const delta = (text: string): Said => ({ said: 'text', text, delta: true });

it('[68] a secret that comes in pieces is seen whole, and nothing of what is said is lost', () => {
  const words = new WholeWords((text) => text.replaceAll('sekret-123', '[redacted]'));
  const told = ['a b', 'c KEY=sek', 'ret', '-123', '\nlast se', 'k'].map((text) => words.take([delta(text)]));
  expect(told).toEqual([[delta('a ')], [delta('bc ')], [], [], [delta('KEY=[redacted]\nlast ')], []]);
  const reasoning: Said = { said: 'reasoning', text: 'x', delta: true };
  expect(words.take([reasoning])).toEqual([delta('sek')]);
  expect(words.take([{ said: 'text', text: 'all', delta: false }])).toEqual([
    reasoning,
    { said: 'text', text: 'all', delta: false },
  ]);
});
