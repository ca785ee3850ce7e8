import type { Clock } from '../core/clock.js';
import { newConversation, saveConversation, type Conversation } from './conversation.js';
import { askHook, blockReason, postHook, type HookEvent, type HookTarget } from './hooks.js';
import { McpConnection } from './mcp.js';
import type { ScriptedOptions } from './options.js';
import { playTurn } from './play.js';
import type { Script } from './script-schema.js';
import { addToTranscript, transcriptPath, type TranscriptEntry } from './transcript.js';
import type { Turn, TurnScreen, WayOut } from './turn.js';

export interface AgentSetup {
  readonly options: ScriptedOptions;
  readonly script: Script;
  readonly conversation: Conversation;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly cwd: string;
}

/** Where the agent shows itself: its terminal, or the lines of a wire format. */
export interface Face extends TurnScreen {
  /** A turn that was told to go on, or failed. */
  toldToGoOn(reason: string): void;
  failed(message: string): void;
  interrupted(): void;
}

export interface Leaving {
  leave(how: WayOut): Promise<never>;
  ignoreSignals(ignore: boolean): void;
}

/** A Stop hook may make a turn go on so often in a row; more would be a loop. */
const MAX_CONTINUATIONS = 8;

const GOODBYE_LIMIT_MS = 500;

/** The agent's part of a conversation: plays a turn for each prompt, tells hooks, keeps what was said. */
export class Dialogue {
  conversation: Conversation;
  readonly #setup: AgentSetup;
  readonly #face: Face;
  readonly #leaving: Leaving;
  readonly #mcp: McpConnection;
  #lastSaid = '';
  #begun: Promise<unknown> | null = null;

  constructor(setup: AgentSetup, face: Face, leaving: Leaving) {
    this.#setup = setup;
    this.conversation = setup.conversation;
    this.#face = face;
    this.#leaving = leaving;
    const { options, script, clock } = setup;
    this.#mcp = new McpConnection({
      url: options.mcpUrl,
      token: options.token,
      patienceMs: script.settings.mcp_patience_ms,
      clock,
    });
  }

  get lastSaid(): string {
    return this.#lastSaid;
  }

  /** Keeps the conversation, then tells of its begin. */
  async begin(): Promise<void> {
    const source = this.#setup.options.resume === null ? 'startup' : 'resume';
    await this.#tellBegin(source, this.save());
  }

  /** Plays the turn, and the turns that Stop hooks ask for after it. Resolves with what failed, or null. */
  async answer(prompt: string, signal: AbortSignal): Promise<string | null> {
    await this.#tell({ type: 'user', text: prompt }, { hook_event_name: 'UserPromptSubmit', prompt });
    let input = prompt;
    for (let round = 0; ; round++) {
      this.#lastSaid = '';
      const failure = await this.#play(input, signal);
      if (signal.aborted) return null;
      if (failure !== null) {
        await this.#tell(
          { type: 'failure', text: failure },
          { hook_event_name: 'StopFailure', message: failure },
        );
        return failure;
      }
      // Whoever hears of the end may end the agent at once.
      await this.save();
      const answer = await this.#tell(
        { type: 'assistant', text: this.#lastSaid },
        {
          hook_event_name: 'Stop',
          last_assistant_message: this.#lastSaid,
          stop_hook_active: round > 0,
        },
      );
      const reason = blockReason(answer);
      if (reason === null || signal.aborted || round >= MAX_CONTINUATIONS) return null;
      this.#face.toldToGoOn(reason);
      await this.#note({ type: 'user', text: reason });
      input = reason;
    }
  }

  /** A new conversation, as a person's /clear. */
  async clear(): Promise<void> {
    const { options, script } = this.#setup;
    this.conversation = newConversation(options.role, script.settings.values);
    await this.#tellBegin('clear', Promise.resolve());
  }

  hook(event: HookEvent, limitMs?: number): Promise<unknown> {
    return postHook(this.#hookTarget(), this.conversation.thread_id, event, limitMs);
  }

  /** Nobody hears of the end before the begin, and whoever is told of either hears of both. */
  async goodbye(): Promise<void> {
    if (this.#begun === null) return;
    await this.#begun.catch(() => undefined);
    await this.hook({ hook_event_name: 'SessionEnd' }, GOODBYE_LIMIT_MS);
  }

  save(): Promise<void> {
    return saveConversation(this.#setup.options.state, this.conversation);
  }

  /** Under way from the first moment: an end in between waits for it. */
  #tellBegin(source: 'startup' | 'resume' | 'clear', first: Promise<void>): Promise<unknown> {
    this.#begun = first.then(() => this.hook({ hook_event_name: 'SessionStart', source }));
    return this.#begun;
  }

  async #play(prompt: string, signal: AbortSignal): Promise<string | null> {
    try {
      await playTurn(this.#turnFor(signal), prompt);
      return null;
    } catch (error) {
      if (signal.aborted) {
        this.#face.interrupted();
        return null;
      }
      const message = error instanceof Error ? error.message : String(error);
      this.#face.failed(message);
      return message;
    }
  }

  #turnFor(signal: AbortSignal): Turn {
    const { script, clock, cwd, env, options } = this.#setup;
    return {
      script,
      clock,
      cwd,
      env,
      signal,
      pace: options.pace,
      mcp: this.#mcp,
      conversation: this.conversation,
      screen: {
        ...this.#face,
        say: (text) => {
          this.#lastSaid = text;
          this.#face.say(text);
        },
      },
      hook: (event) => this.hook(event),
      askHook: (request) => askHook(this.#hookTarget(), this.conversation.thread_id, request),
      save: () => this.save(),
      leave: (how) => this.#leaving.leave(how),
      ignoreSignals: (ignore) => this.#leaving.ignoreSignals(ignore),
    };
  }

  #hookTarget(): HookTarget {
    const { options, script, cwd, clock } = this.#setup;
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
  async #tell(entry: TranscriptEntry, event: HookEvent): Promise<unknown> {
    const [answer] = await Promise.all([this.hook(event), this.#note(entry)]);
    return answer;
  }

  #note(entry: TranscriptEntry): Promise<void> {
    return addToTranscript(this.#setup.options.state, this.conversation.thread_id, entry);
  }
}
