/**
 * What every way to run an agent has to do alike, and the ways there are. The suite plays every case in every cell; the
 * page about agents is made from the same table.
 */

export interface Place {
  readonly backend: 'tmux' | 'headless';
  readonly agent: 'scripted' | 'claude' | 'codex';
  /** The wire format, where the agent has more than one. */
  readonly format?: string;
}

export const PLACES: readonly Place[] = [
  { backend: 'tmux', agent: 'scripted' },
  { backend: 'tmux', agent: 'claude' },
  { backend: 'tmux', agent: 'codex' },
  { backend: 'headless', agent: 'scripted', format: 'stream-json' },
  { backend: 'headless', agent: 'scripted', format: 'thread-jsonl' },
  { backend: 'headless', agent: 'claude' },
  { backend: 'headless', agent: 'codex' },
];

export const placeName = ({ agent, backend, format }: Place): string =>
  [agent, backend, ...(format === undefined ? [] : [format])].join(' · ');

/** The events that a case leaves, by what they are about; each list in order, with nothing else in it. */
export interface Kernel {
  readonly message: readonly string[];
  readonly run: readonly string[];
  readonly worker: readonly string[];
}

type Exception = (place: Place) => { readonly why: string; readonly kernel: Kernel } | undefined;

export interface ContractCase {
  readonly name: string;
  readonly summary: string;
  readonly kernel: Kernel;
  /** A kernel of its own, where an agent cannot do it there, and why. */
  readonly except?: Exception;
}

const TAKEN = ['accepted', 'queued', 'typed', 'submitted', 'started'];
const DELIVERED = [...TAKEN, 'answered'];
const ONE_TURN: Kernel = {
  message: DELIVERED,
  run: ['queued', 'started', 'reported', 'succeeded'],
  worker: ['created', 'working', 'idle'],
};

const REFUSED = 'it never asks there: what its own sandbox does not allow is refused, and it goes on';

function refusedWithoutAsking({ backend, agent, format }: Place): ReturnType<Exception> {
  if (backend === 'tmux') return undefined;
  if (format === 'thread-jsonl') return { why: REFUSED, kernel: ONE_TURN };
  // It could commit nothing, and is asked once whether it is through.
  const run = ['queued', 'started', 'reported', 'reported', 'succeeded'];
  return agent === 'codex' ? { why: REFUSED, kernel: { ...ONE_TURN, run } } : undefined;
}

export const CASES: readonly ContractCase[] = [
  {
    name: 'start, prompt, tool use, report',
    summary: 'A task reaches the agent, which uses a tool, commits and reports through ours.',
    kernel: ONE_TURN,
  },
  {
    name: 'follow-up',
    summary: 'The next message is a run of its own, in the same conversation.',
    kernel: {
      message: [...DELIVERED, ...DELIVERED],
      run: [...ONE_TURN.run, ...ONE_TURN.run],
      worker: ['created', 'working', 'idle', 'working', 'idle'],
    },
  },
  {
    name: 'question',
    summary: 'A question to the lead makes the run wait; the answer continues the same run.',
    kernel: {
      message: [...DELIVERED, ...DELIVERED],
      run: ['queued', 'started', 'waiting', 'reported', 'succeeded'],
      worker: ['created', 'working', 'waiting', 'working', 'idle'],
    },
  },
  {
    name: 'permission',
    summary: 'A request for permission waits for a person, whose answer decides it without a key.',
    kernel: {
      ...ONE_TURN,
      run: ['queued', 'started', 'waiting', 'reported', 'succeeded'],
      worker: ['created', 'working', 'waiting', 'working', 'idle'],
    },
    except: refusedWithoutAsking,
  },
  {
    name: 'cancel',
    summary: 'A worker that is killed in its turn ends with everything it started; its run is cancelled.',
    kernel: {
      message: TAKEN,
      run: ['queued', 'started', 'cancel_requested', 'cancelled'],
      worker: ['created', 'working', 'exited'],
    },
  },
  {
    name: 'crash',
    summary: 'An agent that dies in its turn is told as that, with its run.',
    kernel: {
      message: TAKEN,
      run: ['queued', 'started', 'failed'],
      worker: ['created', 'working', 'exited'],
    },
  },
  {
    name: 'resume',
    summary: 'A message brings a worker that died back, in its own conversation.',
    kernel: {
      message: [...TAKEN, ...DELIVERED],
      run: ['queued', 'started', 'failed', 'queued', 'started', 'reported', 'succeeded'],
      worker: ['created', 'working', 'exited', 'working', 'idle'],
    },
  },
];
