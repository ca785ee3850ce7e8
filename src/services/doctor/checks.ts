import { checkAgents } from './agents.js';
import { checkMcp, checkProxies } from './connections.js';
import type { Check } from './deps.js';
import { checkDaemons, checkProcesses, checkServers, checkWorktrees } from './leftovers.js';
import { checkPermissions } from './permissions.js';
import { checkControlMode, checkGit, checkNode, checkTmux } from './programs.js';
import { checkSessions } from './sessions.js';
import { checkDatabase, checkFolders, checkSpace } from './storage.js';
import { checkLocale, checkShell, checkTerminal } from './terminal.js';

/** Adding a check: one function that returns rows, and one line here. */
export const CHECKS: readonly Check[] = [
  { area: 'programs', name: 'Node.js', run: checkNode },
  { area: 'programs', name: 'git', run: checkGit },
  { area: 'programs', name: 'tmux', run: checkTmux },
  { area: 'programs', name: 'tmux control', run: checkControlMode },
  { area: 'agents', name: 'agents', run: checkAgents },
  { area: 'connections', name: 'MCP port', run: checkMcp },
  { area: 'connections', name: 'proxies', run: checkProxies },
  { area: 'terminal', name: 'locale', run: checkLocale },
  { area: 'terminal', name: 'shell', run: checkShell },
  { area: 'terminal', name: 'TERM', run: checkTerminal },
  { area: 'storage', name: 'data folder', run: checkFolders },
  { area: 'storage', name: 'database', run: checkDatabase },
  { area: 'storage', name: 'disk space', run: checkSpace },
  { area: 'storage', name: 'permissions', run: checkPermissions },
  { area: 'sessions', name: 'sessions', run: checkSessions },
  { area: 'sessions', name: 'tmux servers', run: checkServers },
  { area: 'sessions', name: 'processes', run: checkProcesses },
  { area: 'sessions', name: 'daemons', run: checkDaemons },
  { area: 'sessions', name: 'worktrees', run: checkWorktrees },
];
