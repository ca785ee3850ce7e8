import { fact, type FactSubject } from '../services/engine/deps.js';
import type { LiveSession } from '../services/session-context.js';
import { createLive } from './live-session.js';
import { writeControl } from './session-control.js';
import type { Opening } from './supervise-session.js';

/** What a new session and one that is taken up have in common on the way to being live. */

export function supervisorStarted({ parts, options }: Opening, port: number): void {
  parts.store.append(
    fact('supervisor.started', subject(options.plan.session_id), { pid: process.pid, port }),
  );
}

/** The end of the tmux server pauses the session (its agents ended with it), and so does the key of a person in it. */
export function followPlace({ parts, options, end }: Opening, socket: string | null): void {
  const { store, backend } = parts;
  backend.onEvent((event) => {
    if (event.type === 'pause_asked') end.pause('paused by the person');
    if (event.type !== 'place_lost') return;
    const lost = { socket: socket ?? '', reason: event.reason };
    store.append(fact('tmux.lost', { ...subject(options.plan.session_id), source: 'tmux' }, lost));
    end.pause('the tmux server of the session is gone');
  });
}

/** Engine, jobs, and what agents are given; calls that wait are answered only after `becomeReachable`. */
export async function goLive(opening: Opening, port: number): Promise<LiveSession> {
  const { parts, context, end } = opening;
  const { plan, agents, env } = opening.options;
  const { backend, places, tokens, git } = parts;
  const gitEnvironment = await git.agentGitEnvironment({
    project: plan.project,
    directory: places.directory,
  });
  const live = createLive({ plan, agents, env, context, backend, end, port, gitEnvironment, tokens });
  opening.goLive(live);
  return live;
}

/** From here on other processes find the session, and its agents are answered. */
export async function becomeReachable({ parts, context, server }: Opening, port: number): Promise<void> {
  await writeControl(parts.places.data, port, parts.tokens.issue({ scope: 'client', workerId: null }));
  server.serve(context);
}

function subject(sessionId: string): FactSubject {
  return { session_id: sessionId, source: 'supervisor', evidence: 'process' };
}
