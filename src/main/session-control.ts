import { join } from 'node:path';
import { z } from 'zod';
import { readTextFile, writeFileAtomic } from '../platform/files.js';
import { isSameProcessAlive, ownIdentity } from '../platform/identity.js';
import { newSecret } from '../platform/tokens.js';

const control = z.object({
  pid: z.number(),
  pid_started_at: z.string(),
  boot_id: z.string(),
  port: z.number(),
  client_token: z.string(),
  /** Its supervisor is done with the session, and may live on for a moment. */
  left: z.boolean().default(false),
});
export type SessionControl = z.infer<typeof control>;

const controlPath = (dataDirectory: string) => join(dataDirectory, 'control.json');

/** How other processes of this user reach the supervisor (0600). */
export async function writeControl(dataDirectory: string, port: number, clientToken: string): Promise<void> {
  const { pid, pidStartedAt, bootId } = ownIdentity();
  const content: SessionControl = {
    pid,
    pid_started_at: pidStartedAt,
    boot_id: bootId,
    port,
    client_token: clientToken,
    left: false,
  };
  await writeFileAtomic(controlPath(dataDirectory), JSON.stringify(content));
}

/** From here on nobody asks the supervisor of this process any more; port and token stay for the next one. */
export async function leaveControl(dataDirectory: string): Promise<void> {
  const last = await readLastControl(dataDirectory);
  if (last?.pid !== process.pid) return;
  await writeFileAtomic(controlPath(dataDirectory), JSON.stringify({ ...last, left: true }));
}

/** null when there is none, or when the process that wrote it has left or is gone. */
export async function readControl(dataDirectory: string): Promise<SessionControl | null> {
  const last = await readLastControl(dataDirectory);
  if (last === null || last.left) return null;
  const { pid, pid_started_at: pidStartedAt, boot_id: bootId } = last;
  return isSameProcessAlive({ pid, pidStartedAt, bootId }) ? last : null;
}

/** What the last supervisor wrote, whether it lives or not. */
export async function readLastControl(dataDirectory: string): Promise<SessionControl | null> {
  const text = await readTextFile(controlPath(dataDirectory));
  if (text === null) return null;
  const parsed = control.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : null;
}

/** The secret that the session's tokens are made from; the same after a restart. */
export async function sessionSecret(dataDirectory: string): Promise<string> {
  const path = join(dataDirectory, 'secret');
  const known = await readTextFile(path);
  return known !== null && known.length >= 43 ? known : renewSecret(dataDirectory);
}

/** Nothing that the secret before has issued is valid afterwards. */
export async function renewSecret(dataDirectory: string): Promise<string> {
  const secret = newSecret();
  await writeFileAtomic(join(dataDirectory, 'secret'), secret);
  return secret;
}
