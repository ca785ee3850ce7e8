import type { Clock } from '../../core/clock.js';
import { Canvas, type Region } from './canvas.js';
import { dialogRegion, moveChoice, ruleOf, type Dialog } from './dialog.js';
import { Editor } from './editor.js';
import { createKeyParser, type Input, type KeyName } from './keys.js';
import { printable, truncate } from './width.js';

export interface UiSettings {
  readonly title: string;
  /** Dim text in an empty input box. */
  readonly suggestion: string;
  /** How long a key or paste waits before it is drawn. */
  readonly echoDelayMs: number;
  /** A dialog takes no key for so long after it came. */
  readonly dialogDeafMs: number;
}

export interface UiHandlers {
  submitted(text: string, shown: string): void;
  /** Esc or Ctrl-C while a turn runs. */
  interrupted(): void;
  /** Ctrl-D, or Ctrl-C twice, on an empty input box. */
  quit(): void;
}

type Status = 'ready' | 'working' | 'turn failed';

const SPINNER = ['✻', '✽', '✶', '✢'] as const;
const TICK_MS = 500;
const MAX_EDITOR_ROWS = 8;
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`;

/** Everything a person sees and types. Knows nothing of scripts. */
export class TerminalUi {
  private readonly canvas: Canvas;
  private readonly editor = new Editor();
  private status: Status = 'ready';
  private activity = 'Working';
  private startedAt = 0;
  private frame = 0;
  private dialog: {
    readonly shown: Dialog;
    readonly since: number;
    choice: number;
    answer(choice: number): void;
  } | null = null;
  private readonly waiting: string[] = [];
  private readonly history: string[] = [];
  private historyAt = 0;
  private quitArmed = false;
  private readonly pendingLines: string[] = [];
  private drawQueued = false;
  private stopTicking = () => {};
  private isFrozen = false;
  private readonly clock: Clock;
  private readonly settings: UiSettings;
  private readonly handlers: UiHandlers;

  constructor(clock: Clock, settings: UiSettings, handlers: UiHandlers) {
    this.clock = clock;
    this.settings = settings;
    this.handlers = handlers;
    this.canvas = new Canvas(process.stdout);
  }

  open(): void {
    process.stdin.setRawMode?.(true);
    process.stdin.on(
      'data',
      createKeyParser(this.clock, (input) => this.take(input)),
    );
    process.stdout.on('resize', () => this.canvas.repaint(this.region()));
    this.canvas.open();
    this.draw();
  }

  close(): void {
    this.stopTicking();
    this.flush();
    this.canvas.close();
    process.stdin.setRawMode?.(false);
    process.stdin.pause();
  }

  print(...lines: readonly string[]): void {
    this.pendingLines.push(...lines);
    this.draw();
  }

  setWaiting(prompts: readonly string[]): void {
    this.waiting.splice(0, this.waiting.length, ...prompts);
    this.draw();
  }

  setStatus(status: Status): void {
    this.status = status;
    this.isFrozen = false;
    this.stopTicking();
    if (status === 'working') {
      this.startedAt = this.clock.now();
      this.activity = 'Working';
      this.tick();
    }
    this.draw();
  }

  setActivity(text: string): void {
    this.activity = text;
    this.draw();
  }

  /** The screen stops changing, as of an agent that hangs. Keys still work. */
  freeze(): void {
    this.flush();
    this.isFrozen = true;
    this.stopTicking();
  }

  /** Shows a dialog in place of the input box; resolves with the choice (0-based). Aborting takes it away. */
  ask(dialog: Dialog, signal: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        signal.removeEventListener('abort', onAbort);
        this.dialog = null;
        this.draw();
        settle();
      };
      const onAbort = () => done(() => reject(signal.reason as Error));
      signal.addEventListener('abort', onAbort);
      const answer = (choice: number) => done(() => resolve(choice));
      this.dialog = { shown: dialog, since: this.clock.now(), choice: 0, answer };
      this.draw();
    });
  }

  private take(input: Input): void {
    if (this.settings.echoDelayMs > 0 && input.type !== 'key') {
      this.apply(input);
      this.clock.after(this.settings.echoDelayMs, () => this.draw());
      return;
    }
    this.apply(input);
    this.draw();
  }

  private apply(input: Input): void {
    if (this.dialog !== null) return this.dialogInput(input);
    if (input.type === 'text') return this.edit(() => this.editor.insert(input.text));
    if (input.type === 'paste') return this.edit(() => this.editor.paste(input.text));
    this.key(input.name);
  }

  private edit(change: () => void): void {
    this.quitArmed = false;
    change();
  }

  private dialogInput(input: Input): void {
    const dialog = this.dialog;
    if (dialog === null || input.type === 'paste') return;
    if (this.clock.now() - dialog.since < this.settings.dialogDeafMs) return;
    if (input.type === 'text') {
      const choice = Number(input.text[0]) - 1;
      if (choice >= 0 && choice < dialog.shown.options.length) dialog.answer(choice);
    } else if (input.name === 'enter') dialog.answer(dialog.choice);
    else if (input.name === 'escape' || input.name === 'ctrl-c') dialog.answer(dialog.shown.onEscape);
    else dialog.choice = moveChoice(dialog.shown, dialog.choice, input.name);
  }

  private key(name: KeyName): void {
    const { editor } = this;
    switch (name) {
      case 'enter':
        return this.submit();
      case 'newline':
        return editor.insert('\n');
      case 'backspace':
        return editor.backspace();
      case 'delete':
        return editor.delete();
      case 'left':
        return editor.move(-1);
      case 'right':
        return editor.move(1);
      case 'home':
        return editor.home();
      case 'end':
        return editor.end();
      case 'up':
        return this.recall(-1);
      case 'down':
        return this.recall(1);
      case 'ctrl-u':
        return editor.killToStart();
      case 'ctrl-k':
        return editor.killToEnd();
      case 'ctrl-w':
        return editor.killWord();
      case 'ctrl-l':
        return this.canvas.repaint(this.region());
      case 'escape':
        if (this.status === 'working') this.handlers.interrupted();
        return;
      case 'ctrl-c':
        return this.controlC();
      case 'ctrl-d':
        if (editor.isEmpty) this.handlers.quit();
        return;
    }
  }

  private controlC(): void {
    if (!this.editor.isEmpty) return this.editor.clear();
    if (this.status === 'working') return this.handlers.interrupted();
    if (this.quitArmed) return this.handlers.quit();
    this.quitArmed = true;
  }

  private submit(): void {
    const { text, shown } = this.editor;
    if (text.trim() === '') return;
    this.editor.clear();
    this.history.push(text);
    this.historyAt = this.history.length;
    this.handlers.submitted(text, shown);
  }

  private recall(by: number): void {
    const at = Math.max(0, Math.min(this.history.length, this.historyAt + by));
    if (at === this.historyAt) return;
    this.historyAt = at;
    this.editor.replace(this.history[at] ?? '');
  }

  private tick(): void {
    this.stopTicking = this.clock.after(TICK_MS, () => {
      this.frame++;
      this.draw();
      this.tick();
    });
  }

  /** Many changes of one moment are one write. */
  private draw(): void {
    if (this.drawQueued) return;
    this.drawQueued = true;
    this.clock.after(0, () => {
      if (this.drawQueued) this.flush();
    });
  }

  private flush(): void {
    this.drawQueued = false;
    if (this.isFrozen) return;
    this.canvas.draw(this.region(), this.pendingLines.splice(0));
  }

  private region(): Region {
    const width = this.canvas.columns - 1;
    if (this.dialog !== null) return dialogRegion(this.dialog.shown, this.dialog.choice, width);
    const rule = ruleOf(width);
    const above = [
      ...this.spinnerRow(width),
      ...this.waiting.map((text) => dim(truncate(`  ⎿ queued: ${printable(text)}`, width))),
      rule,
    ];
    const box = this.editor.draw(width, Math.min(MAX_EDITOR_ROWS, this.canvas.height - above.length - 3));
    const { suggestion } = this.settings;
    const rows =
      this.editor.isEmpty && suggestion !== '' ? [`> ${dim(truncate(suggestion, width - 2))}`] : box.rows;
    return {
      rows: [...above, ...rows, rule, truncate(`  ${this.status} · ${this.footer()}`, width)],
      cursor: { row: above.length + box.cursor.row, column: Math.min(box.cursor.column, width) },
    };
  }

  private spinnerRow(width: number): string[] {
    if (this.status !== 'working') return [];
    const seconds = Math.floor((this.clock.now() - this.startedAt) / 1000);
    const row = `${SPINNER[this.frame % SPINNER.length]} ${printable(this.activity)}… (${seconds}s · esc to interrupt)`;
    return [`\u001b[36m${truncate(row, width)}\u001b[39m`];
  }

  private footer(): string {
    if (this.quitArmed) return 'ctrl-c again to leave';
    return this.status === 'working' ? `esc to interrupt · ${this.settings.title}` : this.settings.title;
  }
}
