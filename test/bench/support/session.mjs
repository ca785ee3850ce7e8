// A session as its supervisor has it: store, engine, labels and the port that its agents call. Only its agents are not
// there: their terminals take every text at once, and the bench says over HTTP what they say. Asked over IPC for workers
// that are in a turn.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, folder] = process.argv.slice(2);
const load = (module) => import(pathToFileURL(join(root, 'dist', `${module}.js`)).href);
const { systemClock } = await load('platform/clock');
const { newId } = await load('platform/ids');
const { createLogger } = await load('platform/logger');
const { createRedactor } = await load('platform/redact');
const { createTokens } = await load('platform/tokens');
const { openStore } = await load('store/open-store');
const { AGENTS } = await load('agents/registry');
const { createLive } = await load('main/live-session');
const { SessionServer } = await load('main/session-server');
const { acceptInstruction } = await load('services/engine/instruct');
const { sessionPlanSchema } = await load('services/supervise/plan');
const { followLabels } = await load('services/supervise/labels');

const sessionId = '0123abcd';
const agent = 'scripted';
const redactor = createRedactor();
const store = openStore({
  path: join(folder, 'state.db'),
  clock: systemClock,
  redact: redactor.redactKnown,
});
const tokens = createTokens('secret of this bench', sessionId);
const logger = createLogger({ level: 'info', destination: join(folder, 'supervisor.log'), redactor });
const places = Object.fromEntries(
  ['directory', 'data', 'worktrees', 'trash', 'imported'].map((name) => [name, join(folder, name)]),
);
const plan = sessionPlanSchema.parse({
  ...{ session_id: sessionId, goal: 'none', project: folder, binaries: {} },
  ...{ lead_agent: agent, worker_agents: [agent], verify_commands: [], setup_commands: [] },
});
const silence = new AbortController().signal;
const taken = async (workerId, text, { observer }) => {
  observer.typed(Buffer.byteLength(text));
  // An agent that says nothing for a second after it was given something is taken for one that did not begin.
  setImmediate(() => holder.live.engine.hook(workerId, [{ fact: 'prompt_submitted', text }], silence));
  return { outcome: 'submitted', evidence: 'screen', how: 'taken at once' };
};
const nothing = async () => undefined;
const backend = { send: taken, label: nothing, status: nothing, bell: nothing, onEvent: () => nothing };
const holder = { live: null };
const context = {
  ...{ sessionId, store, git: null, clock: systemClock, logger, places, newId },
  redact: (text) => redactor.redact(text),
  get live() {
    return holder.live;
  },
};

const append = (type, data, subject = {}) =>
  store.append({ type, session_id: sessionId, source: 'supervisor', evidence: 'process', ...subject, data });
const created = (workerId, role) =>
  append(
    'worker.created',
    {
      ...{ role, perspective: 'implementer', read_only: false, agent, backend: 'tmux', task: 'work' },
      ...{ file_scope: [], pass_criteria: '', branch: `agentorchestr/${workerId}`, base_commit: 'a1' },
      worktree: join(folder, 'worktrees', workerId),
    },
    { worker_id: workerId },
  );

append('session.created', {
  ...{ kind: 'goal', goal: 'none', project: folder, repository: folder, subdirectory: '' },
  ...{ base_commit: 'a1', base_statement: 'base a1', lead_agent: agent, worker_agents: [agent] },
  ...{ options: {}, verify_commands: [], setup_commands: [] },
});
created('lead', 'lead');
const server = new SessionServer({ tokens, version: '0' });
const port = await server.listen(0);
const end = Object.fromEntries(['verdict', 'pause', 'fail', 'leadEnded'].map((name) => [name, () => {}]));
const parts = { plan, agents: AGENTS, env: {}, context, backend, end, port, gitEnvironment: {}, tokens };
const live = (holder.live = createLive(parts));
followLabels(context, live);
server.serve(context);

/** Its process is there, and takes what it is told. */
function start(workerId) {
  created(workerId, 'worker');
  for (const place of [join(places.directory, 'workers', workerId), join(places.worktrees, workerId)])
    mkdirSync(place, { recursive: true });
  const attempt_id = newId();
  const about = { worker_id: workerId };
  const process = { attempt_id, pane_id: '%1', window: '@0', pid: 1, pid_started_at: '1' };
  instruct(workerId);
  const { run_id } = store.openRun(sessionId, workerId);
  append('run.started', { attempt: 1, attempt_id, new_process: true }, { ...about, run_id });
  append('worker.started', process, about);
  live.engine.attach(store.worker(sessionId, workerId));
  append('worker.ready', { attempt_id }, about);
  live.engine.pump(workerId);
}

const instruct = (workerId) =>
  store.transaction((tx) =>
    acceptInstruction({ sessionId, newId }, tx, tx.worker(sessionId, workerId), {
      ...{ kind: 'task', text: 'work', sender: 'lead', source: 'mcp' },
    }),
  );

/** So many workers in a turn of a new run. */
async function workers({ count }) {
  const ids = Array.from({ length: count }, (_, index) => `w${String(index + 1).padStart(2, '0')}`);
  for (const id of ids) {
    if (store.worker(sessionId, id) === null) start(id);
    else instruct(id);
  }
  const isAtIt = (id) => {
    const run = store.openRun(sessionId, id);
    return run?.state === 'running' && store.messages(sessionId, id).at(-1)?.state === 'started';
  };
  while (!ids.every(isAtIt)) await new Promise((resolve) => setTimeout(resolve, 2));
  return ids.map((id) => ({ id, token: tokens.issue({ scope: 'worker', workerId: id }) }));
}

process.on('message', (input) => {
  void workers(input).then((answer) => process.send(answer));
});
process.on('disconnect', () => process.exit(0));
process.send({
  url: `http://127.0.0.1:${port}`,
  lead: tokens.issue({ scope: 'lead', workerId: 'lead' }),
  client: tokens.issue({ scope: 'client', workerId: null }),
});
