import { createHash, randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/** UUIDv7: sorts by time. */
export function newId(): string {
  return v7();
}

export function newSessionId(): string {
  return randomBytes(4).toString('hex');
}

/** Names one run in sentinel lines; long enough that no text holds it by chance. */
export function randomNonce(): string {
  return randomBytes(5).toString('hex');
}

/** Names one prompt of an agent; short enough to be typed, long enough that no other prompt has it by chance. */
export function promptHash(parts: readonly unknown[]): string {
  return hashOf(parts).slice(0, 12);
}

/** sha256 of the JSON form; equal values in the same field order have equal hashes. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
