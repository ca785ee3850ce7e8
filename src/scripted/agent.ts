import type { Clock } from '../core/clock.js';
import { newConversation, remember, saveConversation, type Conversation } from './conversation.js';
import { askHook, blockReason, postHook, type HookEvent, type HookTarget } from './hooks.js';
import { McpConnection } from './mcp.js';
import type { ScriptedOptions } from './options.js';
import { playTurn } from './play.js';
import type { Script } from './script-schema.js';
import { addToTranscript, transcriptPath, type TranscriptEntry } from './transcript.js';
import { permissionDialog, trustDialog } from './terminal/dialog.js';
import { TerminalUi } from './terminal/ui.js';
import { printable } from './terminal/width.js';
import type { Turn, TurnScreen } from './turn.js';

export interface AgentSetup {
  readonly options: ScriptedOptions;
  readonly script: Script;
  readonly conversation: Conversation;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly cwd: string;
}

class Interrupted extends Error {}

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
/** A Stop hook may make a turn go on so often in a row; more would be a loop. */
const MAX_CONTINUATIONS = 8;
const GOODBYE_LIMIT_MS = 500;

/** One running agent: takes prompts in order, plays one turn for each, tells hooks. */
export class Agent {
  private readonly setup: AgentSetup;
  private conversation: Conversation;
  private readonly ui: TerminalUi;
  private readonly mcp: McpConnection;
  private readonly queue: { text: string; shown: string }[] = [];
  private turn: AbortController | null = null;
  private ignoresSignals = false;
  private leaving: Promise<never> | null = null;
  private lastSaid = '';

  constructor(setup: AgentSetup) {
    this.setup = setup;
    this.conversation = setup.conversation;
    const { options, script, clock } = setup;
    this.mcp = new McpConnection({
      url: options.mcpUrl,
      token: options.token,
      patienceMs: script.settings.mcp_patience_ms,
      clock,
    });
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
  }

  async run(): Promise<void> {
    this.listenToSignals();
    this.ui.open();
    const { options, script, cwd } = this.setup;
    if (script.settings.trust_dialog) await this.askTrust();
    const isResumed = options.resume !== null;
    if (isResumed) this.ui.print(...this.conversation.transcript);
    this.show(
      `✻ scripted agent · ${script.name} · ${options.role}`,
      `  ${cwd}${isResumed ? ' · conversation resumed' : ''}`,
      '',
    );
    await this.save();
    await this.hook({ hook_event_name: 'SessionStart', source: isResumed ? 'resume' : 'startup' });
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
      this.show(
        ...prompt.shown.split('\n').map((line, index) => `${index === 0 ? '>' : ' '} ${printable(line)}`),
        '',
      );
      this.ui.setStatus('working');
      const failure =
        prompt.text.trim() === '/clear'
          ? await this.clear()
          : await this.answer(prompt.text, this.turn.signal);
      await this.save();
      this.turn = null;
      this.ui.setStatus(failure === null ? 'ready' : 'turn failed');
    }
  }

  /** Plays the turn, and the turns that Stop hooks ask for after it. Resolves with what failed, or null. */
  private async answer(prompt: string, signal: AbortSignal): Promise<string | null> {
    await this.tell({ type: 'user', text: prompt }, { hook_event_name: 'UserPromptSubmit', prompt });
    let input = prompt;
    for (let round = 0; ; round++) {
      this.lastSaid = '';
      const failure = await this.play(input, signal);
      if (signal.aborted) return null;
      if (failure !== null) {
        await this.tell(
          { type: 'failure', text: failure },
          { hook_event_name: 'StopFailure', message: failure },
        );
        return failure;
      }
      // Whoever hears of the end may end the agent at once.
      await this.save();
      const answer = await this.tell(
        { type: 'assistant', text: this.lastSaid },
        {
          hook_event_name: 'Stop',
          last_assistant_message: this.lastSaid,
          stop_hook_active: round > 0,
        },
      );
      const reason = blockReason(answer);
      if (reason === null || signal.aborted || round >= MAX_CONTINUATIONS) return null;
      this.show(`  ⎿ told to go on: ${printable(reason)}`, '');
      await this.note({ type: 'user', text: reason });
      input = reason;
    }
  }

  private async play(prompt: string, signal: AbortSignal): Promise<string | null> {
    try {
      await playTurn(this.turnFor(signal), prompt);
      return null;
    } catch (error) {
      if (signal.aborted) {
        this.show('  ⎿ Interrupted', '');
        return null;
      }
      const message = error instanceof Error ? error.message : String(error);
      this.show(
        ...message.split('\n').map((line, index) => `${index === 0 ? '■' : ' '} ${printable(line)}`),
        '',
      );
      return message;
    }
  }

  private turnFor(signal: AbortSignal): Turn {
    const { script, clock, cwd, env, options } = this.setup;
    return {
      script,
      clock,
      cwd,
      env,
      signal,
      pace: options.pace,
      mcp: this.mcp,
      conversation: this.conversation,
      screen: this.screen(),
      hook: (event) => this.hook(event),
      askHook: (request) => askHook(this.hookTarget(), this.conversation.thread_id, request),
      save: () => this.save(),
      leave: (how) => this.leave(how),
      ignoreSignals: (ignore) => {
        this.ignoresSignals = ignore;
      },
    };
  }

  private screen(): TurnScreen {
    const { ui } = this;
    return {
      say: (text) => {
        this.lastSaid = text;
        this.show(
          ...text.split('\n').map((line, index) => `${index === 0 ? '●' : ' '} ${printable(line)}`),
          '',
        );
      },
      print: (text) => this.show(...text.split('\n').map(printable)),
      note: (text) => this.show(`${text.startsWith(' ') ? '' : '• '}${printable(text)}`),
      activity: (text) => ui.setActivity(text),
      freeze: () => ui.freeze(),
      askPermission: async (text, signal) => (await ui.ask(permissionDialog(text), signal)) === 0,
    };
  }

  private show(...lines: readonly string[]): void {
    remember(this.conversation, lines);
    this.ui.print(...lines);
  }

  /** A new conversation on the same screen, as a person's /clear. */
  private async clear(): Promise<null> {
    const { options, script } = this.setup;
    this.conversation = newConversation(options.role, script.settings.values);
    await this.hook({ hook_event_name: 'SessionStart', source: 'clear' });
    return null;
  }

  private async askTrust(): Promise<void> {
    const choice = await this.ui.ask(trustDialog(this.setup.cwd), new AbortController().signal);
    if (choice === 0) await this.leaveGracefully(1);
  }

  private hook(event: HookEvent, limitMs?: number): Promise<unknown> {
    return postHook(this.hookTarget(), this.conversation.thread_id, event, limitMs);
  }

  private hookTarget(): HookTarget {
    const { options, script, cwd, clock } = this.setup;
    const { thread_id: threadId } = this.conversation;
    return {
      url: script.settings.hooks ? options.hookUrl : null,
      token: options.token,
      cwd,
      transcript: transcriptPath(options.state, threadId),
      clock,
    };
  }

  /** In the transcript as well as to whoever listens: where nobody does, it can be read there. */
  private async tell(entry: TranscriptEntry, event: HookEvent): Promise<unknown> {
    const [answer] = await Promise.all([this.hook(event), this.note(entry)]);
    return answer;
  }

  private note(entry: TranscriptEntry): Promise<void> {
    return addToTranscript(this.setup.options.state, this.conversation.thread_id, entry);
  }

  private save(): Promise<void> {
    return saveConversation(this.setup.options.state, this.conversation);
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

  private leave(how: { exitCode: number } | { signal: string } | { gracefully: number }): Promise<never> {
    if ('gracefully' in how) return this.leaveGracefully(how.gracefully);
    if ('exitCode' in how) process.exit(how.exitCode);
    for (const signal of Object.keys(SIGNALS)) process.removeAllListeners(signal);
    process.kill(process.pid, how.signal);
    return new Promise(() => undefined);
  }

  /** Once, whoever asks first: a lost terminal comes as a signal and as the end of input. */
  private leaveGracefully(exitCode: number): Promise<never> {
    this.leaving ??= this.sayGoodbye(exitCode);
    return this.leaving;
  }

  private async sayGoodbye(exitCode: number): Promise<never> {
    this.turn?.abort(new Interrupted('leaving'));
    await this.hook({ hook_event_name: 'SessionEnd' }, GOODBYE_LIMIT_MS);
    this.ui.close();
    process.exit(exitCode);
  }
}
