import { execFileSync } from 'node:child_process';
import type { AttentionItem } from '../../src/services/supervise/attention.js';
import type { SessionRig } from './session-rig.js';

export interface AnswerGiven {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What a person sees and does: over the door of the session, and in its panes. */
export interface Person {
  items(): Promise<AttentionItem[]>;
  /** The item of a worker (with this text), once it is there. */
  item(worker: string, text?: string): Promise<AttentionItem>;
  answer(input: object): Promise<AnswerGiven>;
  /** What was answered for a worker, how, and by whom. */
  answered(worker: string): Record<string, unknown>[];
  screen(worker: string): string;
  /** Looks again and again, for what no event tells. */
  until(what: string, condition: () => boolean, limitMs?: number): Promise<void>;
  press(worker: string, ...keys: string[]): void;
  tmux(...args: string[]): string;
}

export function personAt(rig: SessionRig): Person {
  const tmux = (...args: string[]): string => {
    const socket = rig.store.session(rig.sessionId)?.tmux_socket ?? '';
    return execFileSync('tmux', ['-S', socket, ...args], { env: rig.env, encoding: 'utf8' });
  };
  const paneOf = (worker: string) => rig.store.worker(rig.sessionId, worker)?.pane_id ?? '';
  const items = async (): Promise<AttentionItem[]> => {
    const answer = (await (await rig.request('/api/list-attention')).json()) as { items: AttentionItem[] };
    return answer.items;
  };
  const screen = (worker: string) => tmux('capture-pane', '-p', '-t', paneOf(worker));
  return {
    items,
    screen,
    tmux,
    press: (worker, ...keys) => void tmux('send-keys', '-t', paneOf(worker), ...keys),
    async until(what, condition, limitMs = 20_000) {
      for (const deadline = Date.now() + limitMs; !condition();) {
        if (Date.now() > deadline)
          throw new Error(`${what}: not within ${limitMs} ms\n${rig.types().slice(-20).join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async item(worker, text) {
      for (const deadline = Date.now() + 30_000; ;) {
        const found = (await items()).find(
          ({ worker_id: id, text: shown }) => id === worker && (text === undefined || shown.includes(text)),
        );
        if (found !== undefined) return found;
        if (Date.now() > deadline)
          throw new Error(
            `${worker} waits for nobody:\n${rig.types(worker).join('\n')}\n${screen(worker).trimEnd()}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
    async answer(input) {
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(input) };
      const response = await rig.request('/api/answer-worker', init);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    answered: (worker) =>
      rig
        .events()
        .flatMap((event) =>
          event.type === 'permission.answered' && event.worker_id === worker
            ? [{ ...event.data, source: event.source, evidence: event.evidence }]
            : [],
        ),
  };
}
