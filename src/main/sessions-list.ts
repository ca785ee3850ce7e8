import { listSessions } from '../doors/cli/commands/list-sessions.js';
import { printError } from '../doors/cli/output/errors.js';
import { systemClock } from '../platform/clock.js';
import { readSessions } from './cli-sessions.js';
import { createTerminal } from './cli-terminal.js';

/** Entry point of bin/agentorchestr.cjs for `--list-sessions`, which scripts and prompts ask often: a file of its own. */
export async function run(args: readonly string[]): Promise<void> {
  const { env } = process;
  const json = args.includes('--json');
  const terminal = createTerminal();
  const host = {
    env,
    terminal,
    now: () => systemClock.now(),
    listSessions: (limit: number) => readSessions(env, limit),
  };
  const code = await listSessions(host, { json }).catch((error: unknown) =>
    printError(terminal, error, { json }),
  );
  process.stdout.write('', () => process.exit(code));
}
