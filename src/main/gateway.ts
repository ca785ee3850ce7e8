import { dirname, join } from 'node:path';
import type { AgentAdapter } from '../agents/contract.js';
import { guardVariables } from '../agents/registry.js';
import { withModels } from '../backends/embedded/backend.js';
import { createHeadlessBackend } from '../backends/headless/backend.js';
import { isoTime, type Clock } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { AgentdOptions } from '../doors/cli/agentd-options.js';
import { createHttpApplication } from '../doors/http/application.js';
import { askModel } from '../llm/ask.js';
import { cpuTimeOf, isAlive } from '../platform/process-tree.js';
import { systemClock } from '../platform/clock.js';
import { isThere } from '../platform/disk.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../platform/files.js';
import { folderWithin } from '../platform/folders.js';
import { ownIdentity } from '../platform/identity.js';
import { newId, newSessionId } from '../platform/ids.js';
import { createLogger } from '../platform/logger.js';
import { resolvePaths } from '../platform/paths.js';
import { createRedactor, secretsOf, type Redactor } from '../platform/redact.js';
import { createBearerCheck, createTokens } from '../platform/tokens.js';
import { Slots } from '../services/engine/slots.js';
import { providers, type AgentTable } from '../services/gateway/agents.js';
import { pumpLater, watchChildren } from '../services/gateway/children/child-watch.js';
import { EscalationTimers } from '../services/gateway/children/escalation-timers.js';
import { Conversations } from '../services/gateway/conversations.js';
import type { Gateway } from '../services/gateway/gateway.js';
import { GATEWAY_OPERATIONS } from '../services/gateway/operations/index.js';
import { RunWaits } from '../services/gateway/run-waits.js';
import type { AgentAccess } from '../services/session-context.js';
import type { Store } from '../store/contract.js';
import { openStore } from '../store/open-store.js';
import { accessOf, addressOf, isLoopback, LEASE, type DaemonAccess } from './daemon-access.js';
import { daemonOn } from './daemon-files.js';
import { checkPort, listenOn } from './daemon-port.js';
import { checkedAgentOptions, checkPlaces } from './daemon-start-check.js';
import { agentAccess, agentCalls } from './gateway-agents.js';
import { createGatewayMcp } from './gateway-mcp.js';
import { sessionSecret } from './session-control.js';
import { OWN_PREFIXES } from './user-environment.js';

const STALL_MS = 10 * 60_000;

export interface GatewayOptions {
  readonly options: AgentdOptions;
  /** Absolute. */
  readonly database: string;
  readonly agents: readonly AgentAdapter[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Takes lines; absent: standard error. */
  readonly log?: { write(line: string): void };
  /** For tests. */
  readonly clock?: Clock;
  /** Absolute path of the program, for agents: their shells may have a PATH of their own. */
  readonly agentctl: string;
}

export interface RunningGateway {
  readonly gateway: Gateway;
  readonly url: string;
  readonly port: number;
  readonly access: DaemonAccess;
  /** Lets what runs end, as long as the options say or until `hurry`; resolves when everything is left. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * One daemon on one database: takes it, listens, takes up what an earlier one left. Throws TOKEN_REQUIRED,
 * DAEMON_RUNNING, PORT_IN_USE, STORE_UNAVAILABLE, and what `checkedAgentOptions` and `checkPlaces` throw; then nothing
 * is left of it.
 */
export async function runGateway(given: GatewayOptions): Promise<RunningGateway> {
  const { database, env, agents } = given;
  const agentOptions = await checkedAgentOptions(given.options, agents, env);
  const options = { ...given.options, agentOptions };
  await checkPlaces(options, agents);
  if (options.tokens.length === 0 && !isLoopback(options.host))
    throw new OrchestratorError('TOKEN_REQUIRED', { host: options.host });
  // Where there is a database, whoever holds it says more.
  if (!(await isThere(database))) await checkPort(options);
  const folder = `${database}.files`;
  await makeHome(database, folder);
  const redactor = createRedactor();
  redactor.add(...secretsOf(given.env));
  const { redactKnown: redact } = redactor;
  const store = openStore({ path: database, clock: systemClock, redact });
  const owner = ownIdentity();
  try {
    const lease = store.acquireLease(LEASE, owner);
    if (!lease.acquired) throw await inUse(given, lease.holder.pid);
    return await listen({ ...given, options }, { store, folder, redactor });
  } catch (error) {
    store.releaseLease(LEASE, owner);
    store.close();
    throw error;
  }
}

async function inUse({ database, env }: GatewayOptions, pid: number): Promise<OrchestratorError> {
  const url = (await daemonOn(resolvePaths(env), database))?.file.url;
  return new OrchestratorError('DAEMON_RUNNING', {
    path: database,
    pid,
    ...(url === undefined ? {} : { url }),
  });
}

/** In somebody's repository, nothing of ours is ever offered to git: there is a token among it. */
async function makeHome(database: string, folder: string): Promise<void> {
  const home = dirname(database);
  const isOurs = !(await isThere(home));
  await ensurePrivateDirectory(folder);
  for (const own of isOurs ? [home, folder] : [folder]) {
    const path = join(own, '.gitignore');
    if (!(await isThere(path))) await writeFileAtomic(path, '*\n');
  }
}

async function listen(
  given: GatewayOptions,
  { store, folder, redactor }: Pick<GatewayParts, 'store' | 'folder' | 'redactor'>,
): Promise<RunningGateway> {
  const { options } = given;
  const access = await accessOf(options, folder);
  const secret = await sessionSecret(folder);
  redactor.add(secret, ...access.tokens);
  const logger = createLogger({ level: options.logLevel, destination: given.log ?? null, redactor });
  const at = { url: '', agentctl: given.agentctl };
  const tokensOf = (sessionId: string) => createTokens(secret, sessionId);
  const parts = await createGateway(given, {
    ...{ store, folder, logger, redactor, authEnabled: access.tokens.length > 0 },
    access: (...whose) => agentAccess(at, tokensOf(whose[0]), whose),
  });
  const { gateway } = parts;
  const mcp = createGatewayMcp(gateway);
  let ready = false;
  const app = await createHttpApplication({
    ...{ gateway, operations: GATEWAY_OPERATIONS, hostNames: access.hostNames },
    isToken: access.tokens.length === 0 ? null : createBearerCheck(access.tokens),
    agentCalls: agentCalls(gateway, tokensOf, mcp),
    isReady: () => ready,
  });
  const port = await listenOn(app, options);
  at.url = addressOf(options.host, port);
  await gateway.conversations.recover();
  const endWatch = watchChildren(gateway);
  gateway.escalations.recover();
  ready = true;
  const doors = {
    close: async () => {
      endWatch();
      gateway.escalations.close();
      await mcp.close();
      await app.close();
    },
  };
  return { gateway, url: at.url, port, access, stop: (hurry) => stop(parts, doors, options.graceMs, hurry) };
}

interface GatewayParts {
  readonly store: Store;
  readonly folder: string;
  readonly logger: Gateway['logger'];
  readonly redactor: Redactor;
  readonly authEnabled: boolean;
  access(sessionId: string, workerId: string, runId: string | null): AgentAccess;
}

interface OpenGateway {
  readonly gateway: Gateway;
  drain(): void;
}

async function createGateway(
  { options, agents: adapters, env, version, clock = systemClock }: GatewayOptions,
  { store, folder, logger, redactor, authEnabled, access }: GatewayParts,
): Promise<OpenGateway> {
  const agents: AgentTable = { agents: adapters, env, options: options.agentOptions };
  const slots = new Slots(options.concurrency);
  const workerDirectory = (sessionId: string, workerId: string) =>
    join(folder, 'sessions', sessionId, 'workers', workerId);
  const shared = { store, clock, logger, newId, agents, slots };
  const conversations = new Conversations({
    ...{ ...shared, access, workerDirectory, owner: ownIdentity(), cpuTime: cpuTimeOf },
    ...{ stallMs: options.idleTimeoutMs ?? STALL_MS, endsSilent: options.idleTimeoutMs !== null },
    isRoot: process.getuid?.() === 0,
    createBackend: (sessionId) => {
      const processes = createHeadlessBackend({
        ...{
          env,
          clock,
          logger,
          redact: redactor.redactKnown,
          guardVariables: guardVariables(adapters),
        },
        ownPrefixes: [...OWN_PREFIXES, 'AGENTD_', 'AGENTCTL_'],
        workerDirectory: (workerId) => workerDirectory(sessionId, workerId),
      });
      return withModels(processes, { ask: askModel, clock, logger });
    },
  });
  const state = { isDraining: false };
  const gateway: Gateway = {
    processes: { isAlive, cpuTime: cpuTimeOf },
    redact: (text) => redactor.redact(text),
    holdsSecret: (text) => redactor.redactKnown(text) !== text,
    ...{ ...shared, conversations, newSessionId, waits: new RunWaits(store, clock) },
    escalations: new EscalationTimers({ ...shared, wake: (sessionId) => pumpLater(gateway, sessionId) }),
    settings: {
      ...{ version, instanceId: newId(), pid: process.pid, startedAt: isoTime(clock), authEnabled },
      ...{ defaultProvider: options.provider ?? (await firstInstalled(agents)) },
      ...{ defaultFolder: options.folder, runTimeoutMs: options.runTimeoutMs },
      ...{ maxSpawnDepth: options.maxSpawnDepth, maxChildren: options.maxChildren },
      escalationMs: options.escalationMs,
    },
    get isDraining() {
      return state.isDraining;
    },
    folder: (path) => folderWithin(path, [options.folder, ...options.roots]),
  };
  return { gateway, drain: () => (state.isDraining = true) };
}

/** Never one that is chosen by name alone. */
async function firstInstalled(table: AgentTable): Promise<string | null> {
  const usual = table.agents.filter(({ onlyByName }) => onlyByName !== true);
  const found = await providers({ ...table, agents: usual });
  return found.find(({ available }) => available)?.name ?? null;
}

async function stop(
  { gateway, drain }: OpenGateway,
  app: { close(): Promise<void> },
  graceMs: number,
  hurry: AbortSignal = new AbortController().signal,
): Promise<void> {
  drain();
  await gateway.conversations.drain(graceMs, hurry);
  gateway.waits.close();
  await app.close();
  await gateway.conversations.close();
  gateway.store.releaseLease(LEASE, ownIdentity());
  gateway.store.close();
}
