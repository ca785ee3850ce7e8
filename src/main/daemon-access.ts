import { join } from 'node:path';
import { isIPv6 } from 'node:net';
import type { AgentdOptions } from '../doors/cli/agentd-options.js';
import { OrchestratorError } from '../core/errors/error.js';
import { readTextFile, writeFileAtomic } from '../platform/files.js';
import { newSecret } from '../platform/tokens.js';

/** The name under which a daemon holds its database. */
export const LEASE = 'agentd';

export interface DaemonAccess {
  /** []: nobody is asked for one. */
  readonly tokens: readonly string[];
  /** The file with the token that the daemon made itself; null: the person gave them. */
  readonly tokenFile: string | null;
  readonly hostNames: readonly string[];
}

const ANY_ADDRESS = ['0.0.0.0', '::'];

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Who may call: by the tokens given, else by one of our own, the same after a restart. Throws TOKEN_REQUIRED. */
export async function accessOf(options: AgentdOptions, folder: string): Promise<DaemonAccess> {
  const { host, tokens, withoutAuth } = options;
  if (withoutAuth && !isLoopback(host)) throw new OrchestratorError('TOKEN_REQUIRED', { host });
  const own = ANY_ADDRESS.includes(host) ? [] : [isIPv6(host) ? `[${host}]` : host.toLowerCase()];
  const hostNames = [...own, ...options.hostNames];
  if (withoutAuth) return { tokens: [], tokenFile: null, hostNames };
  if (tokens.length > 0) return { tokens, tokenFile: null, hostNames };
  const tokenFile = join(folder, 'token');
  const known = await readTextFile(tokenFile);
  const token = known !== null && known.length >= 43 ? known : newSecret();
  if (token !== known) await writeFileAtomic(tokenFile, token);
  return { tokens: [token], tokenFile, hostNames };
}

/** By which programs of this machine reach it. */
export function addressOf(host: string, port: number): string {
  const name = ANY_ADDRESS.includes(host) ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
