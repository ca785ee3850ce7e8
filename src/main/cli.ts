import type { Terminal } from '../doors/cli/host.js';
import { createTerminal } from './cli-terminal.js';

/** Entry point of bin/agentorchestr.cjs for all but `--version` and a bare `--list-sessions`. */
export async function run(args: readonly string[]): Promise<void> {
  const [word, ...others] = args;
  // Programs of their own, under one name.
  if (word === 'serve') return (await import('./agentd.js')).run(others);
  if (word === 'gateway') return (await import('./agentctl.js')).run(others);
  if (word === 'completion' && (await isOffered(others))) return;
  const terminal = createTerminal();
  const code = await runWhole(terminal, args);
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
