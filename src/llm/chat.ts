import { numberOr, type Heard, type WireFormat } from './format.js';

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: { readonly message?: string };
}

/** Chat completions; chunks without names, and the last one is `[DONE]`. */
export const chat: WireFormat = {
  body: ({ model, maxTokens }, said) => ({
    ...{ model, stream: true, stream_options: { include_usage: true } },
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    messages: said.map(({ role, text }) => ({ role, content: text })),
  }),
  read(data): readonly Heard[] {
    if (data === '[DONE]') return [{ heard: 'end' }];
    const { choices, usage, error } = JSON.parse(data) as Chunk;
    if (error !== undefined) return [{ heard: 'error', message: error.message ?? 'an error without a word' }];
    const [choice] = choices ?? [];
    const text = choice?.delta?.content ?? '';
    const why = choice?.finish_reason ?? 'stop';
    return [
      ...(text === '' ? [] : [{ heard: 'text', text } as const]),
      ...(why === 'stop' ? [] : [{ heard: 'cut', why } as const]),
      ...(usage === undefined || usage === null
        ? []
        : [
            {
              heard: 'usage',
              input: numberOr(usage.prompt_tokens),
              output: numberOr(usage.completion_tokens),
            } as const,
          ]),
    ];
  },
};
