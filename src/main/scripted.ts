import { systemClock } from '../platform/clock.js';
import { runScripted } from '../scripted/program.js';

/** Entry point of bin/agentorchestr-scripted.cjs. */
export async function run(args: readonly string[]): Promise<void> {
  await runScripted(args, process.env, systemClock);
}
