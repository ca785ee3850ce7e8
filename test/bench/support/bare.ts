import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledModules } from '../../support/compiled.js';
import { SPEAKER } from './daemon.js';

const PROGRAM = fileURLToPath(new URL('bare.mjs', import.meta.url));

interface Relayed {
  readonly cpuUs: number;
  readonly lines: number;
  /** Microseconds from the writing of a line to its reading. */
  readonly delays: readonly number[];
}

/** The rival: a process that does the bare minimum, with a database in this folder. */
export class Bare {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(folder: string): Promise<Bare> {
    // Without what vitest gives its own processes.
    const child = fork(PROGRAM, [await compiledModules(), folder, SPEAKER], {
      ...{ env: { PATH: process.env['PATH'] }, execArgv: [] },
    });
    await once(child, 'message');
    return new Bare(child);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  relay(prompt: string, keep: boolean): Promise<Relayed> {
    return this.#ask<Relayed>('relay', { prompt, keep });
  }

  async start(): Promise<number> {
    return (await this.#ask<{ ms: number }>('start', null)).ms;
  }

  async serve(): Promise<string> {
    const { port } = await this.#ask<{ port: number }>('serve', null);
    return `http://127.0.0.1:${port}`;
  }

  async #ask<T>(task: string, input: object | null): Promise<T> {
    const answer = once(this.#process, 'message') as Promise<[T]>;
    this.#process.send({ task, input });
    return (await answer)[0];
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}
