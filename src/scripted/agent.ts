import { remember } from './conversation.js';
import { Dialogue, type AgentSetup, type Face } from './dialogue.js';
import { SIGNALS, endBySignal } from './signals.js';
import { permissionDialog, trustDialog } from './terminal/dialog.js';
import { TerminalUi } from './terminal/ui.js';
import { printable } from './terminal/width.js';
import type { WayOut } from './turn.js';

class Interrupted extends Error {}

/** One running agent in a terminal: takes prompts in order, plays one turn for each. */
export class Agent {
  private readonly setup: AgentSetup;
  private readonly ui: TerminalUi;
  private readonly dialogue: Dialogue;
  private readonly queue: { text: string; shown: string }[] = [];
  private turn: AbortController | null = null;
  private ignoresSignals = false;
  private leaving: Promise<never> | null = null;

  constructor(setup: AgentSetup) {
    this.setup = setup;
    const { options, script, clock } = setup;
    const { suggestion, echo_delay_ms, dialog_deaf_ms } = script.settings;
    this.ui = new TerminalUi(
      clock,
      {
        title: `${options.role} · ${script.name}`,
        suggestion,
        echoDelayMs: echo_delay_ms,
        dialogDeafMs: dialog_deaf_ms,
      },
      {
        submitted: (text, shown) => this.take(text, shown),
        interrupted: () => this.interrupt(),
        quit: () => void this.leaveGracefully(0),
      },
    );
    this.dialogue = new Dialogue(setup, this.face(), {
      leave: (how) => this.leave(how),
      ignoreSignals: (ignore) => {
        this.ignoresSignals = ignore;
      },
    });
  }

  async run(): Promise<void> {
    this.listenToSignals();
    this.ui.open();
    const { options, script, cwd } = this.setup;
    if (script.settings.trust_dialog) await this.askTrust();
    const isResumed = options.resume !== null;
    if (isResumed) this.ui.print(...this.dialogue.conversation.transcript);
    this.show(
      `✻ scripted agent · ${script.name} · ${options.role}`,
      `  ${cwd}${isResumed ? ' · conversation resumed' : ''}`,
      '',
    );
    await this.dialogue.begin();
    if (options.prompt !== null && this.leaving === null) this.take(options.prompt, options.prompt);
  }

  private take(text: string, shown: string): void {
    if (/^\/(exit|quit)$/.test(text.trim())) return void this.leaveGracefully(0);
    this.queue.push({ text, shown });
    if (this.turn === null) void this.work();
    else this.showQueue();
  }

  private showQueue(): void {
    this.ui.setWaiting(this.queue.map((prompt) => prompt.shown.split('\n')[0] ?? ''));
  }

  private async work(): Promise<void> {
    for (let prompt = this.queue.shift(); prompt !== undefined; prompt = this.queue.shift()) {
      this.turn = new AbortController();
      this.showQueue();
      this.show(...marked('>', prompt.shown), '');
      this.ui.setStatus('working');
      const isClear = prompt.text.trim() === '/clear';
      if (isClear) await this.dialogue.clear();
      const failure = isClear ? null : await this.dialogue.answer(prompt.text, this.turn.signal);
      await this.dialogue.save();
      this.turn = null;
      this.ui.setStatus(failure === null ? 'ready' : 'turn failed');
    }
  }

  private face(): Face {
    const { ui } = this;
    return {
      say: (text) => this.show(...marked('●', text), ''),
      print: (text) => this.show(...text.split('\n').map(printable)),
      note: (text) => this.show(`${text.startsWith(' ') ? '' : '• '}${printable(text)}`),
      // Its notes show the same.
      tool: () => () => undefined,
      activity: (text) => ui.setActivity(text),
      think: (about) => ui.setActivity(about ?? 'Thinking'),
      freeze: () => ui.freeze(),
      askPermission: async (text, signal) => (await ui.ask(permissionDialog(text), signal)) === 0,
      denied: () => undefined,
      toldToGoOn: (reason) => this.show(`  ⎿ told to go on: ${printable(reason)}`, ''),
      failed: (message) => this.show(...marked('■', message), ''),
      interrupted: () => this.show('  ⎿ Interrupted', ''),
    };
  }

  private show(...lines: readonly string[]): void {
    remember(this.dialogue.conversation, lines);
    this.ui.print(...lines);
  }

  private async askTrust(): Promise<void> {
    const choice = await this.ui.ask(trustDialog(this.setup.cwd), new AbortController().signal);
    if (choice === 0) await this.leaveGracefully(1);
  }

  private interrupt(): void {
    if (!this.ignoresSignals) this.turn?.abort(new Interrupted('interrupted'));
  }

  private listenToSignals(): void {
    for (const [signal, exitCode] of Object.entries(SIGNALS)) {
      process.on(signal, () => {
        if (!this.ignoresSignals) void this.leaveGracefully(exitCode);
      });
    }
    // The terminal is gone: writing to it must not kill an agent that ignores its signals.
    process.stdout.on('error', () => undefined);
    process.stdin.on('error', () => undefined);
    process.stdin.on('end', () => {
      if (!this.ignoresSignals) void this.leaveGracefully(SIGNALS.SIGHUP);
    });
    this.stayAlive();
  }

  /** An agent that lost its terminal and ignores signals has nothing else that keeps the process up. */
  private stayAlive(): void {
    this.setup.clock.after(2 ** 30, () => this.stayAlive());
  }

  private leave(how: WayOut): Promise<never> {
    if ('gracefully' in how) return this.leaveGracefully(how.gracefully);
    if ('exitCode' in how) process.exit(how.exitCode);
    return endBySignal(how.signal);
  }

  /** Once, whoever asks first: a lost terminal comes as a signal and as the end of input. */
  private leaveGracefully(exitCode: number): Promise<never> {
    this.leaving ??= this.sayGoodbye(exitCode);
    return this.leaving;
  }

  private async sayGoodbye(exitCode: number): Promise<never> {
    this.turn?.abort(new Interrupted('leaving'));
    await this.dialogue.goodbye();
    this.ui.close();
    process.exit(exitCode);
  }
}

function marked(sign: string, text: string): string[] {
  return text.split('\n').map((line, index) => `${index === 0 ? sign : ' '} ${printable(line)}`);
}
