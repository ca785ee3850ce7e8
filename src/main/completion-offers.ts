import type { SessionListing } from '../doors/cli/host.js';
import { resolvePaths } from '../platform/paths.js';

type Environment = Readonly<Record<string, string | undefined>>;
type Offered = readonly (readonly [word: string, what: string])[];

const MOST = 50;
const LONGEST = 60;
/** Somebody waits with a finger on the key. */
const DAEMON_LIMIT_MS = 1_000;

/**
 * What shells ask while somebody types: only looks, and says nothing where there is nothing to say or something fails.
 * false: it was not asked.
 */
export async function printOffers(
  program: 'agentorchestr' | 'agentctl',
  args: readonly string[],
  env: Environment = process.env,
): Promise<boolean> {
  const [what = '', extra] = args;
  const read = extra === undefined ? OFFERS[program][what] : undefined;
  if (read === undefined) return false;
  try {
    process.stdout.write((await read(env)).filter(isPlain).map(line).join(''));
  } catch {
    // The person wanted to type on; a command that is really run will say what is wrong.
  }
  return true;
}

const OFFERS: Readonly<
  Record<'agentorchestr' | 'agentctl', Readonly<Record<string, (env: Environment) => Promise<Offered>>>>
> = {
  agentorchestr: { sessions: (env) => sessions(env), resumable, agents },
  agentctl: { sessions: conversations, agents },
};

async function sessions(env: Environment, isOffered?: (one: SessionListing) => boolean): Promise<Offered> {
  const { readSessions } = await import('./cli-sessions.js');
  const found = (await readSessions(env, MOST)).filter((one) => isOffered?.(one) ?? true);
  return found.map(({ session_id: id, state, goal }) => [id, `${state}: ${goal}`]);
}

async function resumable(env: Environment): Promise<Offered> {
  const { canGoOn } = await import('../doors/cli/commands/which-session.js');
  return sessions(env, canGoOn);
}

async function agents(env: Environment): Promise<Offered> {
  const { readAgents } = await import('./own-agents.js');
  return readAgents(resolvePaths(env)).map(({ name, displayName }) => [name, displayName]);
}

async function conversations(env: Environment): Promise<Offered> {
  const [{ createAgentctlHost }, { createTerminal }, { parseFlags, readOptions }] = await Promise.all([
    import('./agentctl-host.js'),
    import('./cli-terminal.js'),
    import('../doors/agentctl/arguments.js'),
  ]);
  const { target } = readOptions(parseFlags([], {}, 'agentctl'), env);
  const host = createAgentctlHost(env, createTerminal());
  const request = { method: 'GET', path: `/sessions?limit=${MOST}`, limitMs: DAEMON_LIMIT_MS } as const;
  const found = (await host.call(target, request))['sessions'] as Record<string, unknown>[];
  return found.map(({ id, state, title }) => [String(id), `${String(state)}: ${String(title)}`]);
}

/** What a shell would have to quote is not offered. */
const isPlain = ([word]: Offered[number]): boolean => /^[\w.-]+$/.test(word);

function line([word, what]: Offered[number]): string {
  const told = what.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return `${word}\t${[...told].length > LONGEST ? `${[...told].slice(0, LONGEST - 1).join('')}…` : told}\n`;
}
