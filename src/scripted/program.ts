import { delay, type Clock } from '../core/clock.js';
import { toOrchestratorError } from '../core/errors/error.js';
import { Agent } from './agent.js';
import { claimConversation, loadConversation, newConversation, type Conversation } from './conversation.js';
import { HeadlessAgent } from './headless/agent.js';
import { WRITERS } from './headless/writer.js';
import { parseOptions, USAGE, type ScriptedOptions } from './options.js';
import { loadScript } from './script-load.js';
import type { Script } from './script-schema.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The scripted agent, from its arguments to its end. Ends the process itself: 0 left by a person or `exit: 0`, 1 trust
 * refused or no such conversation, 64 bad arguments or script, 128 + signal, or what the script says.
 */
export async function runScripted(args: readonly string[], env: Environment, clock: Clock): Promise<void> {
  const options = orExplain(() => parseOptions(args, env));
  const script = await loadScript(options.script).catch((error: unknown) =>
    fail(toOrchestratorError(error).message, 64),
  );
  const conversation = await openConversation(options, script);
  const setup = { options, script, conversation, env, clock, cwd: process.cwd() };
  if (options.headless !== null) {
    await delay(clock, script.settings.start_delay_ms);
    const writer = WRITERS[options.headless]();
    const release = options.state === null ? () => {} : claim(options.state, conversation.thread_id);
    const status = await new HeadlessAgent(setup, writer).run();
    release();
    // A pipe that its reader is slow to empty keeps the last lines for later.
    await new Promise((flushed) => process.stdout.write('', flushed));
    process.exit(status);
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    fail('the scripted agent is a terminal program: run it in a terminal', 64);
  await delay(clock, script.settings.start_delay_ms);
  await new Agent(setup).run();
}

async function openConversation(options: ScriptedOptions, script: Script): Promise<Conversation> {
  if (options.resume === null || options.state === null)
    return newConversation(options.role, script.settings.values);
  return loadConversation(options.state, options.resume).catch((error: unknown) =>
    fail(
      options.headless === null
        ? toOrchestratorError(error).message
        : `No conversation found with session ID: ${options.resume}`,
      1,
    ),
  );
}

/** One process at a time has a conversation without a terminal. Returns what gives it back. */
function claim(directory: string, threadId: string): () => void {
  try {
    return claimConversation(directory, threadId);
  } catch {
    return fail(`Session ID ${threadId} is already in use.`, 1);
  }
}

function orExplain<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    return fail(`${(error as Error).message}\n${USAGE}`, 64);
  }
}

function fail(message: string, exitCode: number): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(exitCode);
}
