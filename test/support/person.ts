import type { AttentionItem } from '../../src/services/supervise/attention.js';
import type { SessionRig } from './session-rig.js';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What a person does, over the door of the session. */
export function person(rig: SessionRig) {
  const post = async (input: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(input) };
    const response = await rig.request('/api/answer-worker', init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const items = async (): Promise<AttentionItem[]> => {
    const answer = (await (await rig.request('/api/list-attention')).json()) as { items: AttentionItem[] };
    return answer.items;
  };
  /** The item of a worker, once it is there. */
  const item = async (worker: string, text?: string): Promise<AttentionItem> => {
    for (const deadline = Date.now() + 30_000; ;) {
      const found = (await items()).find(
        ({ worker_id: id, text: shown }) => id === worker && (text === undefined || shown.includes(text)),
      );
      if (found !== undefined) return found;
      if (Date.now() > deadline)
        throw new Error(`${worker} waits for nobody:\n${rig.types(worker).join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  return { items, item, answer: post };
}
