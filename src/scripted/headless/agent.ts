import { randomUUID } from 'node:crypto';
import { Dialogue, type AgentSetup, type Face } from '../dialogue.js';
import { SIGNALS, endBySignal } from '../signals.js';
import type { WayOut } from '../turn.js';
import type { StreamWriter } from './writer.js';

/** One turn without a terminal: the prompt is all of standard input, what is said goes out in a wire format. */
export class HeadlessAgent {
  readonly #setup: AgentSetup;
  readonly #writer: StreamWriter;
  readonly #dialogue: Dialogue;
  readonly #turn = new AbortController();
  #ignoresSignals = false;

  constructor(setup: AgentSetup, writer: StreamWriter) {
    this.#setup = setup;
    this.#writer = writer;
    this.#dialogue = new Dialogue(setup, this.#face(), {
      leave: (how) => this.#leave(how),
      ignoreSignals: (ignore) => {
        this.#ignoresSignals = ignore;
      },
    });
  }

  /** Resolves with the exit status. */
  async run(): Promise<number> {
    this.#listenToSignals();
    const prompt = await readAll();
    if (prompt.trim() === '') {
      process.stderr.write('Error: no prompt on standard input\n');
      return 1;
    }
    await this.#dialogue.begin();
    this.#writer.begins(this.#dialogue.conversation.thread_id);
    const failure = await this.#dialogue.answer(prompt, this.#turn.signal);
    await this.#dialogue.save();
    if (failure === null) this.#writer.ended(this.#dialogue.lastSaid);
    else this.#writer.failed(failure);
    await this.#dialogue.goodbye();
    return failure === null ? 0 : 1;
  }

  #face(): Face {
    const writer = this.#writer;
    const nothing = () => undefined;
    return {
      say: (text) => writer.said(text),
      print: (text) => writer.said(text),
      note: nothing,
      activity: nothing,
      think: (about) => {
        if (about !== null) writer.thought(about);
      },
      freeze: nothing,
      toldToGoOn: nothing,
      failed: nothing,
      interrupted: nothing,
      tool: (name, input) => {
        const callId = `call_${randomUUID()}`;
        writer.called(callId, name, input);
        return (output, isError) => writer.returned(callId, output, isError);
      },
      askPermission: null,
      denied: (tool, text) => writer.denied(tool, text),
    };
  }

  #leave(how: WayOut): Promise<never> {
    if ('signal' in how) return endBySignal(how.signal);
    process.exit('exitCode' in how ? how.exitCode : how.gracefully);
  }

  #listenToSignals(): void {
    for (const [signal, exitCode] of Object.entries(SIGNALS))
      process.on(signal, () => {
        if (!this.#ignoresSignals) process.exit(exitCode);
      });
    process.stdout.on('error', () => undefined);
    this.#stayAlive();
  }

  /** In a turn that does nothing, nothing else keeps the process up. */
  #stayAlive(): void {
    this.#setup.clock.after(2 ** 30, () => this.#stayAlive());
  }
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
