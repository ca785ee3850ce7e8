import { appendFile } from 'node:fs/promises';
import type { Logger } from '../../platform/logger.js';
import type { Said } from '../contract.js';

const LONGEST_INPUT = 400;
const OUTPUT_LINES = 6;

/** What an agent says, as text for people, in a file that a pane or anybody else can follow. */
export class Rendering {
  readonly #file: string;
  readonly #logger: Logger;
  #writing: Promise<void> = Promise.resolve();
  /** What the pieces of a block were is not said again when the whole of it comes. */
  #streamed = false;
  #atLineStart = true;

  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  say(said: readonly Said[]): void {
    const text = said.map((one) => this.#words(one)).join('');
    if (text !== '') this.#write(text);
  }

  close(): Promise<void> {
    return this.#writing;
  }

  #words(one: Said): string {
    switch (one.said) {
      case 'prompt_taken':
        return this.#line('── turn ──');
      case 'text':
        return this.#block(one.text, one.delta);
      case 'reasoning':
        return one.delta ? '' : this.#line(`∴ ${one.text}`);
      case 'tool_called':
        return this.#line(`▸ ${one.tool} ${cut(inputOf(one.input), LONGEST_INPUT)}`);
      case 'tool_returned':
        return this.#line(`  ${one.isError ? '✗' : '⎿'} ${firstLines(one.output)}`);
      case 'denied':
        return this.#line(`✗ not permitted: ${one.tool} ${one.text}`);
      case 'note':
        return this.#line(`· ${one.text}`);
      case 'turn_failed':
        return this.#line(`✗ the turn failed: ${one.text}`);
      case 'turn_ended':
        return this.#line('── end of turn ──');
      case 'thread':
      case 'usage':
        return '';
    }
  }

  #block(text: string, delta: boolean): string {
    if (delta) {
      this.#streamed = true;
      this.#atLineStart = text.endsWith('\n');
      return text;
    }
    if (!this.#streamed) return this.#line(text);
    this.#streamed = false;
    return this.#line('');
  }

  /** On a line of its own. */
  #line(text: string): string {
    const before = this.#atLineStart ? '' : '\n';
    this.#atLineStart = true;
    return text === '' ? before : `${before}${text}\n`;
  }

  #write(text: string): void {
    this.#writing = this.#writing
      .then(() => appendFile(this.#file, text, { mode: 0o600 }))
      .catch((error: unknown) => this.#logger.warn({ file: this.#file, err: error }, 'not written'));
  }
}

function inputOf(input: unknown): string {
  const command = (input as { command?: unknown } | null)?.command;
  return typeof command === 'string' ? command : JSON.stringify(input ?? {});
}

function firstLines(text: string): string {
  const lines = text.trimEnd().split('\n');
  const more = lines.length - OUTPUT_LINES;
  return [
    ...lines.slice(0, OUTPUT_LINES).map((line) => cut(line, LONGEST_INPUT)),
    ...(more > 0 ? [`… ${more} more lines`] : []),
  ].join('\n    ');
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}
