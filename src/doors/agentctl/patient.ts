import { delay } from '../../core/clock.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import type { OperationCommand } from './commands.js';
import type { AgentctlHost, Target } from './host.js';
import { requestOf } from './input.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

type Answer = Readonly<Record<string, unknown>>;

/** Reads that last as long as their `timeout_s` says: asked again they go on where they were. */
export function isPatient({ operation: { effect, waits }, properties }: OperationCommand): boolean {
  return effect === 'read' && waits === true && 'timeout_s' in properties;
}

/** Waits for an agentd that was there and is not; each pause is longer than the one before. */
export class Absence {
  readonly #host: AgentctlHost;
  readonly #quiet: boolean;
  #pauseMs = 0;

  constructor(host: AgentctlHost, quiet: boolean) {
    this.#host = host;
    this.#quiet = quiet;
  }

  /** `signal` ends the pause. */
  async pause(signal?: AbortSignal): Promise<void> {
    if (this.#pauseMs === 0 && !this.#quiet) this.#host.err('note: agentd is away; waiting for it\n');
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    await delay(this.#host.clock, this.#pauseMs, signal);
  }

  /** It answers. `doing`: what goes on now. */
  over(doing: string): void {
    if (this.#pauseMs > 0 && !this.#quiet) this.#host.err(`note: agentd answers again; ${doing}\n`);
    this.#pauseMs = 0;
  }
}

/**
 * The answer of a patient command. An agentd that goes away in the middle, or that stops and lets its waits go, is asked
 * again once it is back, for the time that is left. One that is not there at the beginning is an error at once.
 */
export async function askPatiently(
  host: AgentctlHost,
  command: OperationCommand,
  { input, target, quiet }: { input: Record<string, unknown>; target: Target; quiet: boolean },
): Promise<Answer> {
  const asked = Number(input['timeout_s'] ?? command.properties['timeout_s']?.default);
  const end = host.clock.now() + asked * 1_000;
  const absence = new Absence(host, quiet);
  let wasThere = false;
  let given = input;
  for (;;) {
    try {
      const answer = await host.call(target, requestOf(command, given));
      wasThere = true;
      absence.over('waiting on');
      if (answer['timed_out'] !== true || host.clock.now() >= end) return answer;
      // Let go before its time: it stops, or lets nobody wait longer than this.
      await delay(host.clock, FIRST_PAUSE_MS);
    } catch (error) {
      const { category, params } = toOrchestratorError(error);
      wasThere ||= params['was_there'] === true;
      if (!wasThere || category !== 'unavailable' || host.clock.now() >= end) throw error;
      await absence.pause();
    }
    given = { ...input, timeout_s: Math.max(0, Math.ceil((end - host.clock.now()) / 1_000)) };
  }
}
