import type { HookFact, HookRules } from '../../agents/contract.js';
import type { Answered, BackendEvent } from '../../backends/contract.js';
import type { WaitingKind } from '../../core/state/states.js';
import type { EngineDeps } from './deps.js';
import { ParkedRequests, REQUEST_CHOICES } from './parked-requests.js';
import type { WorkerRecord } from './worker-record.js';

type StateEvent = Extract<BackendEvent, { type: 'state' }>;
type Shown = StateEvent & { readonly dialog: NonNullable<StateEvent['dialog']> };

export interface GateAnswer {
  readonly promptHash: string;
  /** The number of the choice. */
  readonly choice: number;
  /** For a request that came through the hook: what the agent is told with the answer. */
  readonly message: string;
  /** Who answers, for the log. */
  readonly by: string;
}

export type GateOutcome = Answered | { readonly outcome: 'no_choice' };

/** How long the hook of a request may lag behind its dialog on the screen. */
const HOOK_LAG_MS = 700;
/** So long after an answer that went by the hook a busy agent may still draw what it asked. */
const SHADOW_MS = 10_000;
/** Kinds of dialogs that stand for a request that came through the hook as well. */
const ASKED_BY_HOOK: readonly WaitingKind[] = ['permission', 'dialog'];
/** An agent that says one of these is past whatever it asked. */
const TURN_FACTS: readonly HookFact['fact'][] = [
  'prompt_submitted',
  'turn_ended',
  'turn_failed',
  'session_ended',
];
/** Dialogs that only come up within a turn. */
const WITHIN_TURN: readonly WaitingKind[] = ['permission', 'question'];

/**
 * What stands between one agent and its work: its dialogs and its requests for permission. Records what waits and
 * brings answers to it. Nothing is answered here but what somebody answers, or what the user agreed to beforehand.
 */
export class WorkerGate {
  readonly #deps: EngineDeps;
  readonly #hooks: () => HookRules | null;
  readonly #record: WorkerRecord;
  readonly #signal: AbortSignal;
  readonly #parked: ParkedRequests;
  /** The dialog of what is parked, once it was seen on the screen: when it goes, it was decided there. */
  #seen: { readonly promptHash: string | null } | null = null;
  #last: StateEvent | null = null;
  /** A hook told of a wait before the screen had shown the turn that it is in: what it shows first is older. */
  #isBehind = false;
  #cancelShow: (() => void) | null = null;
  /** Dialogs that were answered by an agreement; never a second time. */
  readonly #consented = new Set<string>();
  /** When a request was last answered by its hook. */
  #answeredAt = -Infinity;

  /** `signal` aborts when the agent's process is over or the engine closes. */
  constructor(deps: EngineDeps, record: WorkerRecord, hooks: () => HookRules | null, signal: AbortSignal) {
    this.#deps = deps;
    this.#record = record;
    this.#hooks = hooks;
    this.#parked = new ParkedRequests(() => deps.newId());
    this.#signal = signal;
    this.#signal.addEventListener('abort', () => this.#close(), { once: true });
  }

  /** Takes what the screen shows; false when it says nothing about a gate and the turn is to be followed by it. */
  screen(event: StateEvent): boolean {
    this.#cancelShow?.();
    if (event.state === 'unknown') return false;
    this.#last = event;
    if (event.state === 'waiting') {
      this.#isBehind = false;
      this.#shown(event);
      return true;
    }
    if (event.state === 'working' && this.#isBehind) {
      this.#isBehind = false;
      return true;
    }
    // The hook is newer than a screen that has not shown the dialog yet.
    if (this.#parked.first !== null && this.#seen === null) return true;
    this.#decidedElsewhere();
    return false;
  }

  /** What the agent's hooks say. A request is parked: resolves with the hook's answer, null where it takes none. */
  heard(hook: HookFact, hungUp: AbortSignal): Promise<unknown> | null {
    if (TURN_FACTS.includes(hook.fact)) this.#decidedElsewhere();
    if (hook.fact === 'waiting') {
      this.#isBehind = this.#last === null || this.#last.state === 'idle';
      this.#record.waiting(hook.kind, hook.text, 'protocol');
    }
    return hook.fact === 'permission_requested' ? this.#request(hook, hungUp) : null;
  }

  /** Until it is answered, here or at the agent. */
  #request(
    request: Extract<HookFact, { fact: 'permission_requested' }>,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (this.#hooks()?.permissionAnswer === undefined || this.#signal.aborted) {
      this.#record.waiting('permission', request.text, 'protocol');
      return Promise.resolve(null);
    }
    this.#cancelShow?.();
    if (this.#last?.state === 'waiting') this.#seen ??= seenIn(this.#last);
    const answer = this.#parked.park(request.tool, request.text, { signal, onGone: () => this.#hungUp() });
    this.#tell();
    return answer;
  }

  async answer(answer: GateAnswer): Promise<GateOutcome> {
    if (this.#parked.has(answer.promptHash)) return this.#answerRequest(answer);
    const { promptHash, choice } = answer;
    const worker = this.#record.worker();
    const known = worker?.waiting_hash === promptHash ? worker : null;
    const choices = known?.waiting_choices ?? null;
    if (choices !== null && !choices.some(({ number }) => number === choice)) return { outcome: 'no_choice' };
    const answered = await this.#deps.backend.answer(this.#record.workerId, { promptHash, choice });
    if (answered.outcome === 'answered') {
      const label = choices?.find(({ number }) => number === choice)?.label ?? `choice ${choice}`;
      const kind = known?.waiting_kind ?? 'dialog';
      this.#record.gateAnswered(label, answer.by, answered.evidence, WITHIN_TURN.includes(kind));
    }
    return answered;
  }

  /** The agent goes on without us: whoever asked has its answer. */
  #decidedElsewhere(): void {
    this.#isBehind = false;
    this.#seen = null;
    this.#parked.release();
  }

  #answerRequest({ promptHash, choice, message, by }: GateAnswer): GateOutcome {
    const chosen = REQUEST_CHOICES.find(({ number }) => number === choice);
    if (chosen === undefined) return { outcome: 'no_choice' };
    const allow = chosen === REQUEST_CHOICES[0];
    this.#parked.answer(promptHash, this.#hooks()?.permissionAnswer?.(allow, message));
    this.#record.gateAnswered(chosen.label, by, 'protocol', true);
    this.#answeredAt = this.#deps.clock.now();
    // What the screen last showed may have been this dialog.
    this.#seen = null;
    this.#last = null;
    this.#tell();
    return { outcome: 'answered', evidence: 'protocol' };
  }

  #shown(event: StateEvent): void {
    const kind = event.kind ?? 'dialog';
    if (this.#parked.first !== null && ASKED_BY_HOOK.includes(kind)) {
      const before = this.#seen;
      // One whose choices cannot be told is the one that was seen before: somebody may be typing in it.
      if (event.dialog === null) return void (this.#seen ??= seenIn(event));
      this.#seen = seenIn(event);
      if (before === null || before.promptHash === null) return;
      if (before.promptHash === this.#seen.promptHash) return;
      // One dialog after the other, with nothing seen between them: the first was decided at the agent.
      this.#parked.releaseFirst();
      this.#record.working(event.evidence);
      if (this.#parked.first !== null) return this.#tell();
    }
    if (isConsented(event, this.#deps, this.#consented)) return void this.#answerConsented(event);
    const show = () => this.#record.waiting(kind, event.text, event.evidence, event.dialog);
    // Its hook is on its way and can be answered without a key.
    if (kind !== 'permission' || this.#hooks()?.permissionAnswer === undefined) return show();
    const shadowMs = this.#answeredAt + SHADOW_MS - this.#deps.clock.now();
    this.#cancelShow = this.#deps.clock.after(Math.max(HOOK_LAG_MS, shadowMs), show);
  }

  /** That very dialog, once; if it does not go away, a person has to look at it like at any other. */
  async #answerConsented(event: Shown): Promise<void> {
    const { promptHash, consented } = event.dialog;
    this.#consented.add(promptHash);
    const { workerId } = event;
    const choice = consented?.choice ?? { number: 0, label: '' };
    const answered = await this.#deps.backend
      .answer(workerId, { promptHash, choice: choice.number })
      .catch((error: unknown) => ({ outcome: 'refused' as const, reason: String(error) }));
    if (this.#signal.aborted) return;
    if (answered.outcome === 'answered') {
      const by = consented?.to === 'bypass' ? 'bypass of permissions' : 'trust in the project';
      this.#record.gateAnswered(choice.label, `agreed to beforehand: ${by}`, answered.evidence, false);
      return;
    }
    this.#deps.logger.warn({ worker: workerId, outcome: answered.outcome }, 'consented dialog not answered');
    if (answered.outcome !== 'changed')
      this.#record.waiting(event.kind ?? 'dialog', event.text, event.evidence, event.dialog);
  }

  /** Records the request that waits longest. */
  #tell(): void {
    const { first } = this.#parked;
    if (first === null) return;
    const shown = { choices: REQUEST_CHOICES, promptHash: first.promptHash };
    this.#record.waiting('permission', first.text, 'protocol', shown);
  }

  /** The hook call is over without an answer: what the screen shows is all there is. */
  #hungUp(): void {
    const last = this.#last;
    if (this.#parked.first !== null) this.#tell();
    else if (last?.state === 'waiting')
      this.#record.waiting(last.kind ?? 'dialog', last.text, last.evidence, last.dialog);
  }

  #close(): void {
    this.#cancelShow?.();
    this.#parked.release();
  }
}

function seenIn({ dialog }: StateEvent): { readonly promptHash: string | null } {
  return { promptHash: dialog?.promptHash ?? null };
}

function isConsented(event: StateEvent, deps: EngineDeps, done: ReadonlySet<string>): event is Shown {
  const consented = event.dialog?.consented ?? null;
  if (consented === null || event.dialog === null) return false;
  return deps.consents(consented.to) && !done.has(event.dialog.promptHash);
}
