import { flat, list, type CatalogEntry } from './entry.js';

/** Something else is in the way, or was first. */
export const CONFLICT_ERRORS = {
  IDEMPOTENCY_KEY_REUSED: {
    category: 'conflict',
    message: (p) => `idempotency key "${p['key']}" was used with other input`,
    hint: () => 'use a new key for new input; the same key replays the first answer',
  },
  WORKER_NOT_RUNNING: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} is ${p['state']}; nothing can be sent to it`,
    hint: () => 'spawn a new worker, with base set to this worker to go on from its branch',
  },
  SESSION_ENDED: {
    category: 'conflict',
    message: (p) => `session ${p['session']} has ended (${p['state']})`,
    hint: (p) =>
      p['state'] === 'archived'
        ? 'take it up again first (PATCH with "state":"active", agentctl session update ID --state active), or begin another'
        : 'end your turn: nothing more is needed',
  },
  SESSION_BUSY: {
    category: 'conflict',
    message: (p) =>
      `session ${p['session']} is at work (run ${p['run']} is ${p['state']}): it keeps its provider until then`,
    hint: (p) =>
      `wait for its end (agentctl run wait ${p['run']}) or end it (agentctl run cancel ${p['run']})`,
  },
  SESSION_AMBIGUOUS: {
    category: 'conflict',
    message: (p) => `"${p['session']}" is the beginning of more than one session: ${list(p['matches'])}`,
    hint: () => 'give more of its id',
  },
  BACKUP_EXISTS: {
    category: 'conflict',
    message: (p) => `${p['path']} is there already, and is not overwritten`,
    hint: () => 'name another file',
  },
  SESSION_OWNED: {
    category: 'conflict',
    message: (p) => `session ${p['session']} is owned by process ${p['pid']}`,
    hint: (p) => `attach to it with: agentorchestr attach ${p['session']}`,
  },
  THREAD_IN_USE: {
    category: 'conflict',
    message: (p) => `the conversation ${p['thread']} of ${p['worker']} is in use by ${p['other']}`,
    hint: () => 'a conversation has one writer: end the other one, or give the task to a new worker',
  },
  BRANCH_IN_USE: {
    category: 'conflict',
    message: (p) => `branch ${p['branch']} exists already and is not ours`,
    hint: () => 'rename or delete that branch; agentorchestr never reuses or resets a branch it did not make',
  },
  RUN_ALREADY_ENDED: {
    category: 'conflict',
    message: (p) => `run ${p['run']} has already ended (${p['state']})`,
  },
  INVALID_TRANSITION: {
    category: 'conflict',
    message: (p) =>
      `run ${p['run']} is ${p['from']} and cannot become ${p['to']}; it may become: ${list(p['allowed']) === '' ? 'nothing else, it is over' : list(p['allowed'])}`,
    hint: (p) =>
      p['executor'] === 'external'
        ? 'read the run again: somebody else may have moved it'
        : 'a run of the pool is moved by its agent; it can only be cancelled or failed from outside',
  },
  STATUS_CONFLICT: {
    category: 'conflict',
    message: (p) => `run ${p['run']} is ${p['state']}, not ${p['expected']}: nothing was changed`,
    hint: () => 'read the run again, and decide by what it is now',
  },
  NOTHING_TO_ANSWER: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} has no open run`,
    hint: () => 'reports are taken once per instruction; wait for the next one',
  },
  NOTHING_WAITS: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} waits for no answer (any more)`,
    hint: () => 'agentorchestr attention (list_attention) shows what waits',
  },
  PROMPT_CHANGED: {
    category: 'conflict',
    message: (p) =>
      `worker ${p['worker']} waits with another prompt now, nothing was answered: ${flat(p['text'])}`,
    hint: (p) =>
      `read it; its prompt hash is ${p['prompt_hash']}, ${list(p['choices']) === '' ? 'it takes a text' : `its choices are: ${list(p['choices'])}`}`,
  },
  SESSION_NOT_OVER: {
    category: 'conflict',
    message: (p) => `session ${p['session']} is ${p['state']}: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? `see it: agentorchestr status ${p['session']}`),
  },
} as const satisfies Record<string, CatalogEntry>;
