import { printError } from '../doors/cli/output/errors.js';
import type { Terminal } from '../doors/cli/host.js';
import { systemClock } from '../platform/clock.js';
import { createTerminal } from './cli-terminal.js';

/** Entry point of bin/agentorchestr.cjs: what is asked for most often loads the least. */
export async function run(args: readonly string[]): Promise<void> {
  const [word, ...others] = args;
  // Programs of their own, under one name.
  if (word === 'serve') return (await import('./agentd.js')).run(others);
  if (word === 'gateway') return (await import('./agentctl.js')).run(others);
  if (word === 'completion' && (await isOffered(others))) return;
  const terminal = createTerminal();
  const code = isListOnly(args) ? await list(terminal, args) : await runWhole(terminal, args);
  // Open sockets and timers of ours must not hold the process; what was printed must be out.
  process.stdout.write('', () => process.exit(code));
}

async function isOffered(args: readonly string[]): Promise<boolean> {
  return (await import('./completion-offers.js')).printOffers('agentorchestr', args);
}

async function runWhole(terminal: Terminal, args: readonly string[]): Promise<number> {
  const [{ runProgram }, { createCliHost }] = await Promise.all([
    import('../doors/cli/program.js'),
    import('./cli-host.js'),
  ]);
  return runProgram(createCliHost({ env: process.env, terminal }), args);
}

function isListOnly(args: readonly string[]): boolean {
  return (
    args.includes('--list-sessions') && args.every((arg) => arg === '--list-sessions' || arg === '--json')
  );
}

/** SQLite, and nothing of the rest. */
async function list(terminal: Terminal, args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  try {
    const [{ listSessions }, { readSessions }] = await Promise.all([
      import('../doors/cli/commands/list-sessions.js'),
      import('./cli-sessions.js'),
    ]);
    const { env } = process;
    return await listSessions(
      {
        env,
        terminal,
        now: () => systemClock.now(),
        listSessions: async (limit) => readSessions(env, limit),
      },
      { json },
    );
  } catch (error) {
    return printError(terminal, error, { json });
  }
}
