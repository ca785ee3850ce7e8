import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OrchestratorError } from '../core/errors/error.js';
import { isSameProcessAlive, ownIdentity, type ProcessIdentity } from '../platform/identity.js';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../platform/files.js';

const TRANSCRIPT_LINES = 200;

const conversationSchema = z.object({
  thread_id: z.string(),
  role: z.enum(['lead', 'worker']),
  /** Captures, saved results and set values. */
  values: z.record(z.string(), z.unknown()),
  last_rule: z.string().nullable(),
  /** How often each rule applied, by name (or `#index`). */
  used: z.record(z.string(), z.number()),
  /** The done.flag path that a prompt named. */
  flag_path: z.string().nullable(),
  /** The nonce of the last prompt that gave one. */
  nonce: z.string().nullable(),
  transcript: z.array(z.string()),
});

/** What the agent remembers, in memory and in its state directory; the same after `--resume`. */
export type Conversation = z.output<typeof conversationSchema>;

export function newConversation(role: 'lead' | 'worker', values: Record<string, unknown>): Conversation {
  return {
    thread_id: randomUUID(),
    role,
    values: { ...values },
    last_rule: null,
    used: {},
    flag_path: null,
    nonce: null,
    transcript: [],
  };
}

/** Throws INVALID_INPUT when the directory holds no conversation of that id. */
export async function loadConversation(directory: string, threadId: string): Promise<Conversation> {
  const text = /^[\w-]+$/.test(threadId) ? await readTextFile(fileOf(directory, threadId)) : null;
  if (text === null)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'resume',
      problem: `no conversation "${threadId}" in ${directory}`,
    });
  return conversationSchema.parse(JSON.parse(text));
}

/** Remembers a spoken line; the oldest go. */
export function remember(conversation: Conversation, lines: readonly string[]): void {
  conversation.transcript = [...conversation.transcript, ...lines].slice(-TRANSCRIPT_LINES);
}

/** `directory` null: nothing is kept. */
export async function saveConversation(directory: string | null, conversation: Conversation): Promise<void> {
  if (directory === null) return;
  await ensurePrivateDirectory(directory);
  await writeFileAtomic(fileOf(directory, conversation.thread_id), JSON.stringify(conversation));
}

/** Throws when a live process has it. Returns what gives it back. */
export function claimConversation(directory: string, threadId: string): () => void {
  const file = join(directory, `${threadId}.pid`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const holder = holderOf(file);
  if (holder !== null && isSameProcessAlive(holder)) throw new Error(`process ${holder.pid} has it`);
  writeFileSync(file, JSON.stringify(ownIdentity()), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

function holderOf(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return null; // Nobody, or one that was killed in the middle of writing it.
  }
}

function fileOf(directory: string, threadId: string): string {
  return join(directory, `${threadId}.json`);
}
