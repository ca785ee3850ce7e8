import { join } from 'node:path';
import { composeLeadPrompt } from '../context/lead-prompt.js';
import { projectPreamble } from '../context/project-files.js';
import { LEAD_ID } from '../../core/ids.js';
import type { ProjectFacts, SessionBase } from '../../git/contract.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { randomNonce } from '../../platform/ids.js';
import { fact, type FactSubject } from '../engine/deps.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { launchAgent } from './launch-agent.js';
import type { SessionPlan } from './plan.js';

/** The session's row; from here on it is listed and can be taken up again. */
export function recordSession(
  session: SessionContext,
  plan: SessionPlan,
  { base, facts }: { base: SessionBase; facts: ProjectFacts },
): void {
  session.store.append(
    fact('session.created', subject(session), {
      kind: 'goal',
      goal: plan.goal,
      project: plan.project,
      base_commit: base.commit,
      base_statement: base.statement,
      repository: base.repository,
      subdirectory: base.subdirectory,
      lead_agent: plan.lead_agent,
      worker_agents: plan.worker_agents,
      // What a later supervisor cannot learn any more: the plan, and the branch that the checkout was on.
      options: { plan, imported: base.imported, branch: facts.branch },
      verify_commands: plan.verify_commands,
      setup_commands: plan.setup_commands,
    }),
  );
}

/** The integration branch in its own worktree, which is also where the lead works. */
export async function createIntegration(
  session: SessionContext,
  base: SessionBase,
): Promise<{ branch: string; worktree: string }> {
  const branch = `agentorchestr/${session.sessionId}/integration`;
  const worktree = join(session.places.worktrees, 'integration');
  await session.git.createWorktree({
    repository: base.repository,
    path: worktree,
    branch,
    commit: base.commit,
    subdirectory: base.subdirectory,
  });
  session.store.append(
    fact('branch.created', { ...subject(session), source: 'git' }, { branch, worktree, commit: base.commit }),
    fact('session.updated', subject(session), { integration_branch: branch, integration_worktree: worktree }),
  );
  return { branch, worktree };
}

/** The lead's rows and prompt, then its agent. The MCP port must accept connections before this is called. */
export async function startLead(
  session: SessionContext,
  live: LiveSession,
  base: SessionBase,
  integration: { branch: string; worktree: string },
): Promise<void> {
  const { plan } = live;
  const prompt = composeLeadPrompt({
    preamble: await projectPreamble(plan.project),
    baseStatement: base.statement,
    workerAgents: plan.worker_agents,
    verifyCommands: plan.verify_commands.map((entry) => entry.command),
    limits: plan.limits,
    goal: plan.goal,
  });
  await ensurePrivateDirectory(session.places.directory);
  await writeFileAtomic(join(session.places.directory, 'supervisor_prompt.txt'), prompt);
  const [runId, message_id] = [session.newId(), session.newId()];
  const ofLead: FactSubject = { ...subject(session), worker_id: LEAD_ID };
  const ofRun = { ...ofLead, run_id: runId };
  session.store.append(
    fact('worker.created', ofLead, {
      role: 'lead',
      perspective: 'lead',
      read_only: true,
      agent: plan.lead_agent,
      backend: live.backend.name,
      task: plan.goal,
      file_scope: [],
      pass_criteria: '',
      branch: null,
      worktree: integration.worktree,
      base_commit: base.commit,
    }),
    fact('message.accepted', ofRun, {
      message_id,
      kind: 'task',
      sender: 'person',
      text: prompt,
      about: null,
    }),
    fact('run.queued', ofRun, { message_id, number: 1, nonce: randomNonce(), retry_of: null }),
    fact('message.queued', ofRun, { message_id }),
  );
  const worker = session.store.worker(session.sessionId, LEAD_ID);
  if (worker === null) throw new Error('the lead has no row');
  await launchAgent(session, live, worker, { runId, resumeThreadId: null });
}

function subject(session: SessionContext): FactSubject {
  return { session_id: session.sessionId, source: 'supervisor', evidence: 'process' };
}
