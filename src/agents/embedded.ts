import type { AgentAdapter, ModelAccess } from './contract.js';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const chat = { format: 'chat', path: '/chat/completions', headers: bearer } as const;

/** Models over HTTP, in one of two wire formats. Adding one: one entry. */
const MODELS: Readonly<Record<string, ModelAccess>> = {
  anthropic: {
    ...{ format: 'messages', path: '/v1/messages', url: 'https://api.anthropic.com' },
    ...{ urlVariable: 'ANTHROPIC_BASE_URL', keyVariable: 'ANTHROPIC_API_KEY' },
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    ...{ ...chat, url: 'https://api.openai.com/v1' },
    ...{ urlVariable: 'OPENAI_BASE_URL', keyVariable: 'OPENAI_API_KEY' },
  },
  openrouter: {
    ...{ ...chat, url: 'https://openrouter.ai/api/v1' },
    ...{ urlVariable: 'OPENROUTER_BASE_URL', keyVariable: 'OPENROUTER_API_KEY' },
  },
  groq: {
    ...{ ...chat, url: 'https://api.groq.com/openai/v1' },
    ...{ urlVariable: 'GROQ_BASE_URL', keyVariable: 'GROQ_API_KEY' },
  },
  cerebras: {
    ...{ ...chat, url: 'https://api.cerebras.ai/v1' },
    ...{ urlVariable: 'CEREBRAS_BASE_URL', keyVariable: 'CEREBRAS_API_KEY' },
  },
};

/** `embedded:NAME`: text only, without a process, a terminal or tools. Chosen by name. */
export const EMBEDDED: readonly AgentAdapter[] = Object.entries(MODELS).map(([name, model]) => ({
  name: `embedded:${name}`,
  displayName: `${name} (a model over HTTP)`,
  binaries: [],
  kind: 'sdk',
  scores: { orchestrate: 0, implement: 0 },
  capabilities: { parallel: true, mcp: false },
  versionArgs: [],
  guardVariables: [],
  onlyByName: true,
  options: [
    { name: 'model', summary: 'the model that is asked', required: true, file: false },
    { name: 'url', summary: `another address (${model.urlVariable})`, required: false, file: false },
    { name: 'max_tokens', summary: 'of one answer', required: false, file: false },
  ],
  setUp: {
    login: { variables: [model.keyVariable], files: () => [], command: `export ${model.keyVariable}=…` },
  },
  interactive: null,
  headless: {
    argv: () => [],
    format: () => 'plain',
    ...{ hooks: null, transcript: null, paste: null, resumeErrors: null },
    mcpCallLimitMs: Infinity,
  },
  model,
}));
