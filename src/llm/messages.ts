import { numberOr, type Heard, type WireFormat } from './format.js';

/** An answer has to have a limit in this format. */
const USUAL_MAX_TOKENS = 8_192;

interface Event {
  readonly type?: string;
  readonly message?: { readonly usage?: { readonly input_tokens?: unknown } };
  readonly delta?: { readonly type?: string; readonly text?: string; readonly stop_reason?: string | null };
  readonly usage?: { readonly output_tokens?: unknown };
  readonly error?: { readonly message?: string };
}

/** Messages with typed blocks; events have names, and the last one is `message_stop`. */
export const messages: WireFormat = {
  body: ({ model, maxTokens }, said) => ({
    ...{ model, stream: true, max_tokens: maxTokens ?? USUAL_MAX_TOKENS },
    messages: said.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
  }),
  read(data): readonly Heard[] {
    const { type, message, delta, usage, error } = JSON.parse(data) as Event;
    switch (type) {
      case 'message_start':
        return [{ heard: 'usage', input: numberOr(message?.usage?.input_tokens), output: null }];
      case 'content_block_delta':
        return delta?.type === 'text_delta' ? [{ heard: 'text', text: delta.text ?? '' }] : [];
      case 'message_delta':
        return [
          { heard: 'usage', input: null, output: numberOr(usage?.output_tokens) },
          ...(delta?.stop_reason === 'max_tokens' ? [{ heard: 'cut', why: 'max_tokens' } as const] : []),
          ...(delta?.stop_reason === 'refusal' ? [{ heard: 'cut', why: 'refusal' } as const] : []),
        ];
      case 'message_stop':
        return [{ heard: 'end' }];
      case 'error':
        return [{ heard: 'error', message: error?.message ?? 'an error without a word' }];
      default:
        return [];
    }
  },
};
