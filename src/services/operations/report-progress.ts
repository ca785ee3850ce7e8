import { join } from 'node:path';
import { z } from 'zod';
import { isoTime } from '../../core/clock.js';
import { appendLine } from '../../platform/files.js';
import { fact } from '../engine/deps.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { requireLive, requireOpen } from '../session-context.js';

export const reportProgressOperation = defineOperation({
  name: 'report_progress',
  summary: 'Note progress in one sentence; the person sees it.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['message'],
  input: z.object({ message: z.string().trim().min(1, 'it is empty').max(2_000) }),
  output: z.object({ logged: z.boolean() }),
  run: async ({ session, caller }, { message }) => {
    requireLive(session);
    requireOpen(session);
    const line = session.redact(message).replace(/\s+/g, ' ');
    session.store.append(
      fact(
        'progress.reported',
        {
          session_id: session.sessionId,
          ...(caller.workerId === null ? {} : { worker_id: caller.workerId }),
          ...{ source: 'mcp', evidence: 'protocol' },
        },
        { message: line },
      ),
    );
    await appendLine(
      join(session.places.directory, 'progress.log'),
      `${isoTime(session.clock)} ${caller.name}: ${line}`,
    );
    return { logged: true };
  },
});
