import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledRoot } from '../../support/compiled.js';

/** The command line as users start it, with a HOME of its own, beside an empty program of Node. */
export class Programs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly #program: string;

  private constructor(program: string) {
    this.#program = program;
    this.folder = mkdtempSync(join(tmpdir(), 'ao-bench-'));
    this.env = { PATH: process.env['PATH'], HOME: this.folder };
    writeFileSync(join(this.folder, 'empty.cjs'), '');
  }

  static async create(): Promise<Programs> {
    return new Programs(join(await compiledRoot(), 'bin/agentorchestr.cjs'));
  }

  /** Milliseconds from the start to the end. */
  ours(...args: string[]): number {
    return this.#run(this.#program, ...args);
  }

  empty(): number {
    return this.#run(join(this.folder, 'empty.cjs'));
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  #run(...args: string[]): number {
    const { env, folder: cwd } = this;
    const began = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { env, cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return performance.now() - began;
  }
}
