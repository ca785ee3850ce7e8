import { join } from 'node:path';
import { appendLine, ensurePrivateDirectory } from '../platform/files.js';

/** What is kept of a conversation, one JSON object a line; the adapter reads it (src/agents/scripted.ts). */
export type TranscriptEntry =
  | { readonly type: 'user'; readonly text: string }
  | { readonly type: 'assistant'; readonly text: string }
  | { readonly type: 'failure'; readonly text: string };

export function transcriptPath(directory: string | null, threadId: string): string | null {
  return directory === null ? null : join(directory, `${threadId}.jsonl`);
}

export async function addToTranscript(
  directory: string | null,
  threadId: string,
  entry: TranscriptEntry,
): Promise<void> {
  const path = transcriptPath(directory, threadId);
  if (directory === null || path === null) return;
  await ensurePrivateDirectory(directory);
  await appendLine(path, JSON.stringify(lineOf(entry)));
}

function lineOf({ type, text }: TranscriptEntry): unknown {
  switch (type) {
    case 'user':
      return { type, message: { role: 'user', content: text } };
    case 'assistant':
      return {
        type,
        message: { role: 'assistant', content: [{ type: 'text', text }], stop_reason: 'end_turn' },
      };
    case 'failure':
      return { type, message: text };
  }
}
