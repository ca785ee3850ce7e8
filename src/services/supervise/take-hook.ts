import { delay } from '../../core/clock.js';
import { requireLive, type LiveSession, type SessionContext } from '../session-context.js';
import { launchIn } from './launch-agent.js';

/** Less than what the agents give a hook that tells of a prompt. */
const HOLD_MS = 20_000;
/** A client has the list a moment after it was sent, and nothing tells of that: only its next question has the tools. */
const SETTLE_MS = 500;

/**
 * What an agent's own hook tells. One that begins its first turn before its client has our tools (its task came with its
 * start, on a busy machine) is held up for so long: it could not report otherwise.
 */
export async function takeHook(
  session: SessionContext,
  workerId: string,
  { body, hungUp }: { body: unknown; hungUp: AbortSignal },
): Promise<unknown> {
  const live = requireLive(session);
  const answer = live.engine.hook(workerId, body, hungUp);
  const tools = live.toolsSeen.awaited(workerId);
  if (tools === null || !tellsOfPrompt(session, live, { workerId, body })) return answer;
  if (await live.toolsSeen.within(tools, HOLD_MS)) await delay(session.clock, SETTLE_MS, hungUp);
  // Once: it works without them then.
  else live.toolsSeen.listed(workerId);
  return answer;
}

function tellsOfPrompt(
  { store, sessionId }: SessionContext,
  live: LiveSession,
  { workerId, body }: { workerId: string; body: unknown },
): boolean {
  const worker = store.worker(sessionId, workerId);
  if (worker === null) return false;
  // On the person's own terminal it is the same program as in a pane.
  const launch = launchIn(live, worker.agent, worker.backend === 'foreground' ? 'tmux' : worker.backend);
  if (!('toolsAtStart' in launch) || !launch.toolsAtStart) return false;
  return launch.hooks?.translate(body).some(({ fact }) => fact === 'prompt_submitted') === true;
}
