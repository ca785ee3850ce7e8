import { delay } from '../core/clock.js';
import { callTool } from './steps-call.js';
import { appendStep, commitStep, flagStep, forkStep, replaceStep, runCommand, writeStep } from './steps-work.js';
import type { Step, StepOf } from './script-schema.js';
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
  if (turn.pace > 0 && step.action !== 'pause' && step.action !== 'set') await delay(turn.clock, turn.pace * 400, turn.signal);
  return perform(turn, step);
}

async function perform(turn: Turn, step: Exclude<Step, { action: 'parallel' | 'repeat' }>): Promise<Outcome> {
  const { screen, clock, signal } = turn;
  switch (step.action) {
    case 'say':
      return next(screen.say(step.say));
    case 'print':
      return next(screen.print(step.print));
    case 'think':
      screen.activity(step.about ?? 'Thinking');
      return next(await delay(clock, step.think, signal));
    case 'pause':
      return next(await delay(clock, step.pause * turn.pace * 1000, signal));
    case 'set':
      return next(Object.assign(turn.conversation.values, step.set));
    case 'call':
      return next(await callTool(turn, { ...step, tool: step.call, input: step.with }));
    case 'report_done':
      return next(await reportDone(turn, step));
    case 'report_blocked':
      return next(await callTool(turn, { ...step, tool: 'report_blocked', input: { reason: step.report_blocked } }));
    case 'ask_lead':
      return next(await callTool(turn, { ...step, tool: 'ask_lead', input: { question: step.ask_lead } }));
    case 'run':
      return next(await runCommand(turn, step));
    case 'write':
      return next(await writeStep(turn, step));
    case 'append':
      return next(await appendStep(turn, step));
    case 'replace':
      return next(await replaceStep(turn, step));
    case 'commit':
      return next(await commitStep(turn, step));
    case 'flag':
      return next(await flagStep(turn, step));
    case 'permission':
      return permission(turn, step);
    case 'notify':
      return next(await turn.hook({ hook_event_name: 'Notification', kind: step.kind, message: step.notify }));
    case 'crash':
      return turn.leave(typeof step.crash === 'number' ? { exitCode: step.crash } : { signal: step.crash });
    case 'exit':
      return turn.leave({ gracefully: step.exit });
    case 'ignore_signals':
      return next(turn.ignoreSignals(step.ignore_signals));
    case 'fork':
      return next(await forkStep(turn, step));
    case 'silence':
      screen.freeze();
      return interruption(signal);
    case 'sleep_until_interrupt':
      screen.activity('Sleeping');
      return interruption(signal);
    case 'fail':
      throw new StepFailure(step.fail);
    case 'end':
      return 'end';
  }
}

function next(_done: unknown): Outcome {
  return 'next';
}

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
  const asked = turn.screen.askPermission(step.permission, turn.signal);
  const [allowed] = await Promise.all([asked, turn.hook({ hook_event_name: 'PermissionRequest', message: step.permission })]);
  turn.screen.note(`permission ${allowed ? 'given' : 'refused'}: ${brief(step.permission)}`);
  if (step.save !== undefined) turn.conversation.values[step.save] = allowed ? 'yes' : 'no';
  return allowed || step.go_on ? 'next' : 'end';
}

async function runParallel(turn: Turn, step: StepOf<'parallel'>): Promise<Outcome> {
  const outcomes = await Promise.all(step.parallel.map((inner) => takeStep(turn, inner)));
  return outcomes.includes('end') ? 'end' : 'next';
}

async function repeat(turn: Turn, step: StepOf<'repeat'>): Promise<Outcome> {
  const times = Number(render(step.repeat, turn.conversation.values));
  if (!Number.isInteger(times)) throw new StepFailure(`repeat wants a whole number, not ${brief(step.repeat)}`);
  for (let index = 1; index <= times; index++) {
    turn.conversation.values[step.as] = index;
    if ((await runSteps(turn, step.steps)) === 'end') return 'end';
  }
  return 'next';
}
