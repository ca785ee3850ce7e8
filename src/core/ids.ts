import { z } from 'zod';

/** A session: 8 lower-case hex characters, unique per database. */
export const sessionIdSchema = z
  .string()
  .regex(/^[0-9a-f]{8}$/, 'a session id is 8 lower-case hex characters');

/** A worker inside its session: `lead`, or `w01`, `w02` … (two digits, three and more when needed). */
export const workerIdSchema = z
  .string()
  .regex(/^(lead|w\d{2,})$/, 'a worker id looks like w01, or is "lead"');

export const LEAD_ID = 'lead';
/** The worker of a session that nobody leads. */
export const ONLY_WORKER = 'w01';

export function formatWorkerId(number: number): string {
  return `w${String(number).padStart(2, '0')}`;
}

/** The number of a worker id; 0 for the lead. */
export function workerNumber(workerId: string): number {
  return workerId === LEAD_ID ? 0 : Number.parseInt(workerId.slice(1), 10);
}
