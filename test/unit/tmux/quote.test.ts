import { describe, expect, test } from 'vitest';
import { quoteArgument, quoteCommand } from '../../../src/backends/tmux/quote.js';
import { shellQuote } from '../../../src/platform/shell-quote.js';

describe('quoteArgument', () => {
  test('sends everything that tmux would expand or end a command at as octal', () => {
    expect(quoteArgument('a"b$c\\d#e~f;g\nh\ti\u007f')).toBe(
      '"a\\042b\\044c\\134d\\043e\\176f\\073g\\012h\\011i\\177"',
    );
  });

  test('leaves words, spaces and other languages as they are', () => {
    expect(quoteArgument("it's {fine} – 日本 🎉 %if")).toBe(`"it's {fine} – 日本 🎉 %if"`);
  });

  test('refuses a NUL byte instead of sending half of the text', () => {
    expect(() => quoteArgument('a\0b')).toThrow('NUL');
  });
});

test('quoteCommand refuses a name that is not a tmux command', () => {
  expect(quoteCommand(['send-keys', '-t', '%1', ''])).toBe('send-keys "-t" "%1" ""');
  expect(() => quoteCommand(['kill-server; x'])).toThrow('not a tmux command');
  expect(() => quoteCommand([])).toThrow('not a tmux command');
  expect(() => quoteCommand(['source-file', '/x'])).toThrow('cannot be used over a control connection');
});

test('shellQuote keeps quotes, newlines and expansions literal', () => {
  expect(shellQuote(`a'b $HOME\n\`x\``)).toBe(`'a'\\''b $HOME\n\`x\`'`);
});
