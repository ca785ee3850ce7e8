/** A provider of language models that planning and compression may use: which variable holds its key. */
export interface Provider {
  readonly name: string;
  readonly keyVariable: string;
}

/** In the order in which they are tried. */
export const PROVIDERS: readonly Provider[] = [
  { name: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY' },
  { name: 'cerebras', keyVariable: 'CEREBRAS_API_KEY' },
  { name: 'groq', keyVariable: 'GROQ_API_KEY' },
  { name: 'gemini', keyVariable: 'GEMINI_API_KEY' },
  { name: 'openrouter', keyVariable: 'OPENROUTER_API_KEY' },
];
