import type { AgentAdapter, NeededFile } from '../../../agents/contract.js';
import { missingOption } from '../../../agents/registry.js';
import { errorBody, OrchestratorError } from '../../../core/errors/error.js';
import type { InstalledAgent } from '../../../discovery/contract.js';
import { isThere } from '../../../platform/disk.js';
import { readTextFile } from '../../../platform/files.js';
import { failed, ok, warning, type CheckRow } from '../../doctor/row.js';
import { keyOf, optionMissing } from '../agents.js';
import type { PreflightDeps } from './deps.js';

const SESSIONS_LOOKED_AT = 500;

interface Need {
  readonly why: string;
  /** false: only sessions that do nothing now need it. */
  readonly now: boolean;
}

/** The agents that a start needs, and those that could be used besides. */
export async function checkProviders(deps: PreflightDeps): Promise<readonly CheckRow[]> {
  const needs = await needed(deps);
  const usable = deps.agents.filter(({ headless }) => headless !== null);
  const offered = usable.filter(({ onlyByName }) => onlyByName !== true).map(({ name }) => name);
  const names = new Set([...offered, ...needs.keys()]);
  const installed = await deps.detect([...names]);
  const rows = await Promise.all(
    [...names].map((name) => rowsOf(deps, name, needs.get(name) ?? null, installed)),
  );
  if (deps.wanted.provider === null && !installed.some(({ adapter }) => usable.includes(adapter))) {
    const advice = `install one of ${offered.join(', ')}, or name one with --default-provider`;
    return [...rows.flat(), failed({ name: 'agents' }, 'none is installed', { advice })];
  }
  return rows.flat();
}

/** A line only where something is wrong: one for each agent says the rest. */
export async function checkOptions(deps: PreflightDeps): Promise<readonly CheckRow[]> {
  try {
    await deps.checkOptions();
    return [];
  } catch (error) {
    if (!(error instanceof OrchestratorError)) throw error;
    const { message, hint = '' } = errorBody(error);
    return [failed({ name: 'agent options' }, message, { advice: hint })];
  }
}

/** Whom this start or what was left needs, and why. The first reason is the strongest. */
async function needed({ wanted, inspect }: PreflightDeps): Promise<ReadonlyMap<string, Need>> {
  const needs = new Map<string, Need>();
  const add = (name: string, need: Need) => void (needs.has(name) || needs.set(name, need));
  if (wanted.provider !== null) add(wanted.provider, { why: 'the default provider', now: true });
  // What cannot be read is said by the check of the database.
  const reader = await inspect().then(
    (found) => found.reader,
    (error: unknown) => {
      if (error instanceof OrchestratorError) return null;
      throw error;
    },
  );
  for (const id of reader?.unfinishedSessions('conversation') ?? []) {
    const agent = reader?.session(id)?.lead_agent;
    if (agent !== undefined) add(agent, { why: `session ${id} has work for it`, now: true });
  }
  for (const name of Object.keys(wanted.agentOptions))
    add(name, { why: 'options are set for it', now: true });
  const page = reader?.sessionPage({ kind: 'conversation', limit: SESSIONS_LOOKED_AT }) ?? [];
  for (const { state, session_id: id, lead_agent: agent } of page)
    if (state === 'active') add(agent, { why: `session ${id} is with it`, now: false });
  return needs;
}

async function rowsOf(
  deps: PreflightDeps,
  name: string,
  need: Need | null,
  installed: readonly InstalledAgent[],
): Promise<readonly CheckRow[]> {
  const adapter = deps.agents.find((agent) => agent.name === name);
  const why = need === null ? '' : ` (${need.why})`;
  if (adapter === undefined || adapter.headless === null) {
    const problem = adapter === undefined ? 'no such agent' : 'it cannot be started without a terminal';
    return [failed({ name }, `${problem}${why}`, { advice: 'name another one with --default-provider' })];
  }
  if (adapter.model !== undefined) return need === null ? [] : [modelRow(deps, adapter, need)];
  const found = installed.find((agent) => agent.adapter === adapter);
  if (found === undefined) return need === null ? [] : [missing(adapter, need)];
  const subject = { name, version: found.version, path: found.binary };
  const option = need === null ? null : missingOption(adapter, deps.wanted.agentOptions);
  if (need !== null && option !== null) {
    const { message, hint = '' } = errorBody(optionMissing(name, option));
    const row = need.now ? failed : warning;
    return [row(subject, `${message}${why}`, { advice: hint })];
  }
  return [ok(subject, `${found.version} at ${found.binary}${why}`), ...(await setUpOf(deps, adapter))];
}

/** Only whether there is a key: whether it is still valid would need the network. */
function modelRow({ env, wanted }: PreflightDeps, adapter: AgentAdapter, { why, now }: Need): CheckRow {
  const { name, model } = adapter;
  const lacks = now ? failed : warning;
  if (model !== undefined && keyOf(model, { env }) === null) {
    const fix = { command: `export ${model.keyVariable}=…` };
    return lacks({ name }, `${model.keyVariable} is not set (${why})`, fix);
  }
  const option = missingOption(adapter, wanted.agentOptions);
  if (option === null) return ok({ name }, `its key is in ${model?.keyVariable} (${why})`);
  const { message, hint = '' } = errorBody(optionMissing(name, option));
  return lacks({ name }, `${message} (${why})`, { advice: hint });
}

function missing({ name, binaries }: AgentAdapter, { why, now }: Need): CheckRow {
  const found = `${binaries.join(' or ')} is not found on PATH (${why})`;
  const fix = { advice: `install ${name}, or put its folder on the PATH that agentd is started with` };
  return now ? failed({ name }, found, fix) : warning({ name }, found, fix);
}

async function setUpOf(deps: PreflightDeps, adapter: AgentAdapter): Promise<readonly CheckRow[]> {
  if (adapter.setUp === undefined) return [];
  const { login, needs } = adapter.setUp;
  const options = deps.wanted.agentOptions[adapter.name] ?? {};
  const files = needs?.(options, deps.env) ?? [];
  return [
    await loginRow(deps, adapter.name, login),
    ...(await Promise.all(files.map((file) => neededRow(adapter.name, file)))),
  ];
}

/** Only whether there is one: whether it is still valid would need the network. */
async function loginRow(
  { env }: PreflightDeps,
  name: string,
  login: NonNullable<AgentAdapter['setUp']>['login'],
): Promise<CheckRow> {
  const subject = { name: `${name} login` };
  const variable = login.variables.find((one) => (env[one] ?? '') !== '');
  if (variable !== undefined) return ok(subject, `${variable} is set`);
  for (const path of login.files(env))
    if (await isThere(path)) return ok({ ...subject, path }, `${path} is there`);
  return warning(subject, 'none is seen; it may be elsewhere', { command: login.command });
}

async function neededRow(agent: string, { name, path, notIn }: NeededFile): Promise<CheckRow> {
  const subject = { name: `${agent} ${name.split(' ')[0]}`, path };
  const old = notIn === null ? null : await readTextFile(notIn.path);
  if (notIn !== null && old !== null && notIn.looks.test(old))
    return failed(subject, `${name} is in ${notIn.path}, where ${agent} refuses it`, {
      advice: `move its settings into ${path}`,
    });
  if (await isThere(path)) return ok(subject, `${path} is there`);
  return failed(
    subject,
    `there is no ${name}: ${path} is missing, and ${agent} would go without it in silence`,
    {
      advice: 'make that file, or name another one',
    },
  );
}
