import { join } from 'node:path';
import type { Git } from '../../src/git/contract.js';
import { silentLogger } from '../../src/platform/logger.js';
import { createRedactor } from '../../src/platform/redact.js';
import type { LiveSession, SessionContext } from '../../src/services/session-context.js';
import { sessionPlanSchema, type SessionPlanInput } from '../../src/services/supervise/plan.js';
import { ToolsSeen } from '../../src/services/supervise/tools-seen.js';
import { VerifyJobs } from '../../src/services/supervise/verify-jobs.js';
import { scripted } from '../../src/agents/scripted.js';
import type { EngineRig } from './engine-rig.js';
import { SESSION } from './sample-events.js';

export interface FakeSession {
  readonly session: SessionContext;
  readonly live: LiveSession;
}

export interface FakeSessionOptions {
  readonly plan?: Partial<SessionPlanInput>;
  /** What the test asks of git; everything else throws. */
  readonly git?: Partial<Git>;
}

/** What use cases get, over the rows, the clock and the backend of a rig. */
export function createFakeSession(rig: EngineRig, options: FakeSessionOptions = {}): FakeSession {
  const { store, clock, backend, engine } = rig;
  const plan = sessionPlanSchema.parse({
    session_id: SESSION,
    goal: 'make it faster',
    project: join(rig.folder, 'project'),
    lead_agent: 'scripted',
    worker_agents: ['scripted', 'other'],
    binaries: {},
    verify_commands: [],
    setup_commands: [],
    ...options.plan,
  });
  const git = gitWith(options.git ?? {});
  const places = {
    directory: rig.folder,
    data: join(rig.folder, 'data'),
    worktrees: join(rig.folder, 'worktrees'),
    trash: join(rig.folder, 'trash'),
    imported: join(rig.folder, 'imported'),
  };
  const common = { sessionId: SESSION, store, git, clock, logger: silentLogger, places };
  const newId = rig.deps.newId;
  const live: LiveSession = {
    plan,
    backend,
    engine,
    verifyJobs: new VerifyJobs({ ...common, newId, commandEnvironment: {} }),
    agent: () => ({ adapter: scripted, binary: '/nowhere' }),
    toolsSeen: new ToolsSeen(clock),
    launching: new Map(),
    integrating: (work) => work(),
    ending: new AbortController(),
    finish: () => undefined,
    pause: () => undefined,
    stop: () => undefined,
    commandEnvironment: {},
    isRoot: false,
    agentAccess: () => ({ mcpUrl: '', hookUrl: '', tokenVariable: '', env: {} }),
  };
  const session = { ...common, live, newId, redact: createRedactor().redact };
  return { session, live };
}

function gitWith(given: Partial<Git>): Git {
  return new Proxy(given, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (method === undefined) throw new Error(`this test does not expect git.${String(name)}`);
      return method;
    },
  }) as Git;
}
