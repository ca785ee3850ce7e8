import { execFile } from 'node:child_process';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';
import { createTmuxWorld, type TmuxWorld } from '../../support/tmux.js';

/** How many workers the figures are taken with, so that growth can be seen. */
export const CROWDS = [8, 32, 64] as const;

/** Programs that wait and say nothing. */
export const QUIET: readonly string[] = ['cat'];

/** An opened session of panes without a supervisor; closes with the sandbox. */
export async function openWorld(): Promise<TmuxWorld> {
  const sandbox = createSandbox();
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  return world;
}

export const workerNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `w${String(index + 1).padStart(2, '0')}`);

export async function withWorkers(
  count: number,
  argv: readonly string[],
  work: (world: TmuxWorld) => Promise<void>,
): Promise<void> {
  const world = await openWorld();
  try {
    for (const id of workerNames(count)) await world.backend.start(world.spec(id, argv));
    await work(world);
  } finally {
    await world.sandbox.close();
  }
}

/** One command as a client of its own, as tools do that have no connection. */
export function execTmux(sandbox: Sandbox, socketName: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('tmux', ['-L', socketName, ...args], { env: sandbox.env }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** As processes of one machine agree upon it, ms; recorder.mjs and bench programs write the same. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
