import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentAdapter } from '../agents/contract.js';
import { EXIT } from '../core/errors/categories.js';
import { errorBody, toOrchestratorError } from '../core/errors/error.js';
import { agentdHelp } from '../doors/cli/agentd-help.js';
import { readAgentdOptions, type AgentdOptions } from '../doors/cli/agentd-options.js';
import { printError } from '../doors/cli/output/errors.js';
import type { Terminal } from '../doors/cli/host.js';
import { preflightLines } from '../doors/shared/preflight-lines.js';
import type { LogLimits } from '../platform/log-file.js';
import { resolvePaths } from '../platform/paths.js';
import { createTerminal } from './cli-terminal.js';
import { announceDaemon, daemonsFolder } from './daemon-files.js';
import type { DaemonLog } from './daemon-log.js';
import { agentFlags } from './agentd-flags.js';
import { runGateway } from './gateway.js';
import { readConversationAgents } from './own-agents.js';
import type { StartMessage } from './start-message.js';
import { packageVersion } from './manifest.js';

const AGENTCTL = fileURLToPath(new URL('../../bin/agentctl.cjs', import.meta.url));

/** Where there is no terminal. */
export interface Background {
  tell?(message: StartMessage<Record<string, unknown>>): void;
  /** Of its log; absent: it writes to standard output and error. */
  openLog?(limits: LogLimits): DaemonLog;
}

/** Entry point of bin/agentd.cjs: the gateway in the foreground, until TERM or INT; a second one ends what runs. */
export async function run(
  args: readonly string[],
  { tell = () => undefined, openLog }: Background = {},
): Promise<void> {
  const terminal = createTerminal();
  try {
    const agents = readConversationAgents(resolvePaths(process.env));
    const flags = agentFlags(agents);
    const options = readAgentdOptions(args, process.env, process.cwd(), flags);
    if (options === 'help') return terminal.out(agentdHelp(flags));
    if (options === 'version') return terminal.out(`agentd ${packageVersion()}\n`);
    if (options.check) return await check(options, agents, terminal);
    const log = openLog?.({ bytes: options.logMaxBytes, kept: options.logKeep });
    const say = (line: string) => (log ?? { write: terminal.out }).write(`${line}\n`);
    await serve({ options, agents, log }, say, tell);
    process.exit(0);
  } catch (error) {
    tell({ error: errorBody(toOrchestratorError(error)) });
    const code = printError(terminal, error, { json: args.includes('--print-json') });
    process.stdout.write('', () => process.exit(code));
  }
}

async function check(options: AgentdOptions, agents: readonly AgentAdapter[], terminal: Terminal) {
  const found = await (await import('./preflight.js')).runPreflight(options, agents, process.env);
  terminal.out(options.printJson ? `${JSON.stringify(found)}\n` : preflightLines(found));
  process.stdout.write('', () => process.exit(found.ok ? EXIT.ok : EXIT.operation));
}

interface Serving {
  readonly options: AgentdOptions;
  readonly agents: readonly AgentAdapter[];
  readonly log: DaemonLog | undefined;
}

async function serve(
  { options, agents, log }: Serving,
  say: (line: string) => void,
  tell: (message: StartMessage<Record<string, unknown>>) => void,
): Promise<void> {
  const paths = resolvePaths(process.env);
  const database = resolve(options.database);
  const version = packageVersion();
  const signals = stopSignals();
  const running = await runGateway({
    options,
    database,
    agents,
    env: process.env,
    version,
    agentctl: AGENTCTL,
    ...(log === undefined ? {} : { log }),
  });
  const { gateway, url, port, access } = running;
  signals.serving();
  // Node's own words would show whatever is in the error.
  process.on('uncaughtException', (error) => {
    gateway.logger.fatal({ err: error }, 'agentd ends: this should not happen');
    process.exit(EXIT.operation);
  });
  const { instanceId, authEnabled, pid } = gateway.settings;
  const file = { url, database, token_file: access.tokenFile, instance_id: instanceId, version };
  const name = `${options.host}-${port}`;
  const withdraw = await announceDaemon(paths, name, file);
  const auth = authEnabled ? `token: ${access.tokenFile ?? 'as given'}` : 'NO TOKEN IS ASKED FOR';
  const place = log?.moveTo(join(daemonsFolder(paths), name));
  const ready = {
    ...{ ...file, pid, port, auth_enabled: authEnabled },
    ...(place === undefined ? {} : { log: place }),
  };
  tell({ ready });
  say(
    options.printJson
      ? JSON.stringify(ready)
      : `agentd ${version} at ${url} (process ${pid}, database ${database}, ${auth})`,
  );
  await signals.asked;
  if (!options.printJson) say(drainWords(gateway.slots.running.length, options.graceMs));
  await running.stop(signals.hurry);
  await withdraw();
}

interface StopSignals {
  /** The first one came. */
  readonly asked: Promise<void>;
  /** And a second one: no more time for what runs. */
  readonly hurry: AbortSignal;
  /** Until it is told, a second one ends the process: a start that hangs has nothing to lose. */
  serving(): void;
}

/** Agents are never left at work without a daemon: however often it is asked, what runs is ended and taken down first. */
function stopSignals(): StopSignals {
  const hurry = new AbortController();
  let isServing = false;
  const asked = new Promise<void>((stop) => {
    let times = 0;
    const onSignal = () => {
      if (times++ === 0) stop();
      else if (isServing) hurry.abort();
      else process.exit(EXIT.interrupted);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
  return { asked, hurry: hurry.signal, serving: () => void (isServing = true) };
}

function drainWords(running: number, graceMs: number): string {
  if (running === 0) return 'agentd stops';
  const what = running === 1 ? 'the run that is at work' : `the ${running} runs that are at work`;
  return `agentd stops: ${what} may end within ${graceMs / 1_000} s; stop it again to end them now`;
}
