import { runAgentctl } from '../doors/agentctl/program.js';
import { GATEWAY_OPERATIONS } from '../services/gateway/operations/index.js';
import { createAgentctlHost } from './agentctl-host.js';
import { printOffers } from './completion-offers.js';
import { createTerminal } from './cli-terminal.js';

/** Entry point of bin/agentctl.cjs: the operations of a daemon on the command line. */
export async function run(args: readonly string[]): Promise<void> {
  const [word, ...others] = args;
  if (word === 'completion' && (await printOffers('agentctl', others))) return;
  const code = await runAgentctl(createAgentctlHost(process.env, createTerminal()), GATEWAY_OPERATIONS, args);
  // Open sockets and timers of ours must not hold the process; what was printed must be out.
  process.stdout.write('', () => process.exit(code));
}
