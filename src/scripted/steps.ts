import { delay } from '../core/clock.js';
import { callTool } from './steps-call.js';
import {
  appendStep,
  commitStep,
  flagStep,
  forkStep,
  replaceStep,
  runCommand,
  writeStep,
} from './steps-work.js';
import type { SimpleStep, Step, StepOf } from './script-schema.js';
import { brief, firstUnmet, render, StepFailure } from './template.js';
import type { Turn } from './turn.js';

/** `end`: the turn is over, whatever steps are left. */
type Outcome = 'next' | 'end';

export async function runSteps(turn: Turn, steps: readonly Step[]): Promise<Outcome> {
  for (const step of steps) {
    turn.signal.throwIfAborted();
    if ((await takeStep(turn, step)) === 'end') return 'end';
  }
  return 'next';
}

/** Templates are filled just before a step runs; nested steps fill their own when their turn comes. */
async function takeStep(turn: Turn, raw: Step): Promise<Outcome> {
  if (raw.if !== undefined && firstUnmet(raw.if, turn.conversation.values) !== null) return 'next';
  if (raw.action === 'parallel') return runParallel(turn, raw);
  if (raw.action === 'repeat') return repeat(turn, raw);
  const step = render(raw, turn.conversation.values);
  if (turn.pace > 0 && step.action !== 'pause' && step.action !== 'set')
    await delay(turn.clock, turn.pace * 400, turn.signal);
  const perform = PERFORM[step.action] as (turn: Turn, step: SimpleStep) => unknown;
  return (await perform(turn, step)) === 'end' ? 'end' : 'next';
}

type Performers = {
  readonly [Name in SimpleStep['action']]: (turn: Turn, step: StepOf<Name>) => unknown;
};

/** What each step does; only `'end'` as the answer ends the turn. */
const PERFORM: Performers = {
  say: (turn, step) => turn.screen.say(step.say),
  print: (turn, step) => turn.screen.print(step.print),
  think: (turn, step) => {
    turn.screen.think(step.about ?? null);
    return delay(turn.clock, step.think, turn.signal);
  },
  pause: (turn, step) => delay(turn.clock, step.pause * turn.pace * 1_000, turn.signal),
  set: (turn, step) => void Object.assign(turn.conversation.values, step.set),
  call: (turn, step) => callTool(turn, { ...step, tool: step.call, input: step.with }),
  report_done: reportDone,
  report_blocked: (turn, step) =>
    callTool(turn, { ...step, tool: 'report_blocked', input: { reason: step.report_blocked } }),
  ask_lead: (turn, step) => callTool(turn, { ...step, tool: 'ask_lead', input: { question: step.ask_lead } }),
  run: runCommand,
  write: writeStep,
  append: appendStep,
  replace: replaceStep,
  commit: commitStep,
  flag: flagStep,
  sentinel: (turn, step) => {
    const { nonce } = turn.conversation;
    turn.screen.print(
      `WORKER_${step.sentinel.toUpperCase()}${nonce === null ? '' : `[${nonce}]`}: ${step.summary}`,
    );
  },
  permission,
  notify: (turn, step) =>
    turn.hook({ hook_event_name: 'Notification', kind: step.kind, message: step.notify }).then(() => {}),
  crash: (turn, step) =>
    turn.leave(typeof step.crash === 'number' ? { exitCode: step.crash } : { signal: step.crash }),
  exit: (turn, step) => turn.leave({ gracefully: step.exit }),
  ignore_signals: (turn, step) => turn.ignoreSignals(step.ignore_signals),
  fork: forkStep,
  silence: (turn) => {
    turn.screen.freeze();
    return interruption(turn.signal);
  },
  sleep_until_interrupt: (turn) => {
    turn.screen.activity('Sleeping');
    return interruption(turn.signal);
  },
  fail: (_turn, step) => Promise.reject(new StepFailure(step.fail)),
  end: () => 'end',
};

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    if (signal.aborted) reject(signal.reason as Error);
  });
}

async function reportDone(turn: Turn, step: StepOf<'report_done'>): Promise<void> {
  const call = { ...step, tool: 'report_done', input: { summary: step.report_done } };
  if (!step.insist) return callTool(turn, call);
  await callTool(turn, { ...call, allow_error: true });
  const answer = JSON.stringify(turn.conversation.values['last'] ?? null);
  if (answer.includes('REPORT_INCOMPLETE')) await callTool(turn, call);
}

async function permission(turn: Turn, step: StepOf<'permission'>): Promise<Outcome> {
  const allowed = await decide(turn, step);
  turn.screen.note(`permission ${allowed ? 'given' : 'refused'}: ${brief(step.permission)}`);
  if (step.save !== undefined) turn.conversation.values[step.save] = allowed ? 'yes' : 'no';
  return allowed || step.go_on ? 'next' : 'end';
}

/** The dialog and the hook address are asked at once, and whoever answers first decides, as with real agents. */
async function decide(turn: Turn, step: StepOf<'permission'>): Promise<boolean> {
  const { askPermission } = turn.screen;
  if (askPermission === null) return decideWithoutDialog(turn, step);
  const closing = new AbortController();
  const shown = askPermission(step.permission, AbortSignal.any([turn.signal, closing.signal]));
  const decided = turn.askHook({ tool: step.tool, message: step.permission }).then((decision) => {
    // Nobody there decides: the person at the dialog does.
    if (decision === null) return shown;
    if (decision.message !== '') turn.screen.note(`  ⎿ told: ${brief(decision.message)}`);
    return decision.allowed;
  });
  try {
    return await Promise.race([shown, decided]);
  } finally {
    // What loses the race has nobody who waits for it.
    shown.catch(() => undefined);
    decided.catch(() => undefined);
    closing.abort(new Error('decided'));
  }
}

async function decideWithoutDialog(turn: Turn, step: StepOf<'permission'>): Promise<boolean> {
  const decision = await turn.askHook({ tool: step.tool, message: step.permission });
  if (decision !== null) return decision.allowed;
  turn.screen.denied(step.tool, step.permission);
  return false;
}

async function runParallel(turn: Turn, step: StepOf<'parallel'>): Promise<Outcome> {
  const outcomes = await Promise.all(step.parallel.map((inner) => takeStep(turn, inner)));
  return outcomes.includes('end') ? 'end' : 'next';
}

async function repeat(turn: Turn, step: StepOf<'repeat'>): Promise<Outcome> {
  const times = Number(render(step.repeat, turn.conversation.values));
  if (!Number.isInteger(times))
    throw new StepFailure(`repeat wants a whole number, not ${brief(step.repeat)}`);
  for (let index = 1; index <= times; index++) {
    turn.conversation.values[step.as] = index;
    if ((await runSteps(turn, step.steps)) === 'end') return 'end';
  }
  return 'next';
}
