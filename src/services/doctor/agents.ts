import type { AgentAdapter } from '../../agents/contract.js';
import { AGENTS } from '../../agents/registry.js';
import type { InstalledAgent } from '../../discovery/contract.js';
import type { DoctorDeps } from './deps.js';
import { failed, ok, unknown, warning, type CheckRow, type Fix } from './row.js';
import { compareVersions, versionIn } from './versions.js';

/** Whether anybody is logged in is not asked: that would need the network. An agent that is not says so in its pane. */
export async function checkAgents(deps: DoctorDeps): Promise<readonly CheckRow[]> {
  const installed = await deps.detectAgents();
  return [...installed.map(describe), ...whatIsMissing(installed.map(({ adapter }) => adapter))];
}

function describe({ adapter, binary, version }: InstalledAgent): CheckRow {
  const subject = { name: adapter.name, version, path: binary };
  const ways = waysOf(adapter);
  if (ways === null)
    return ok(subject, `${version} at ${binary}; detected only, not started by this version`);
  const here = versionIn(version);
  const recorded = adapter.interactive?.screen.recordedVersion ?? '';
  if (version === 'unknown' || here === null) {
    const found = `${binary} does not tell its version (it failed, or took longer than 3 s); ${ways}`;
    return unknown(subject, found, { command: `${binary} ${adapter.versionArgs.join(' ')}` });
  }
  const found = `${version} at ${binary}; ${ways}`;
  const order = compareVersions(here, versionIn(recorded) ?? here);
  if (order === 0) return ok(subject, found);
  if (order < 0) return warning(subject, `${found}; its rules are from ${recorded}`, updateIt(adapter));
  return warning(subject, `${found}; its rules are from ${recorded}: screen (unverified version)`, {
    advice: `nothing, as long as it works; where its screen is not understood, attach and answer in its pane, or install ${recorded}`,
  });
}

/** null: in no way. */
function waysOf(adapter: AgentAdapter): string | null {
  const ways = [
    ...(adapter.interactive === null ? [] : ['in a pane']),
    ...(adapter.headless === null ? [] : ['without a terminal']),
  ];
  if (ways.length === 0) return null;
  return `starts ${ways.join(' and ')}${isLead(adapter) ? '' : ', as a worker only'}`;
}

function isLead({ interactive, capabilities }: AgentAdapter): boolean {
  return interactive !== null && capabilities.mcp;
}

function whatIsMissing(installed: readonly AgentAdapter[]): CheckRow[] {
  const subject = { name: 'agents' };
  if (installed.length === 0) return [failed(subject, 'none found on PATH', installOne())];
  if (installed.every((adapter) => waysOf(adapter) === null))
    return [failed(subject, 'none of those found can be started by this version', installOne())];
  if (!installed.some(isLead)) return [failed(subject, 'none of those found can lead', installOne())];
  return [];
}

function installOne(): Fix {
  const leads = AGENTS.filter((adapter) => isLead(adapter) && adapter.onlyByName !== true);
  const names = leads.map(({ displayName, binaries }) => `${displayName} (${binaries[0] ?? ''})`);
  return { advice: `install ${names.join(' or ')}, log in once in a terminal, and have it on PATH` };
}

function updateIt({ displayName }: AgentAdapter): Fix {
  return { advice: `update ${displayName} if its screen is not understood` };
}
