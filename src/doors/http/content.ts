import type { FastifyInstance } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';

/** JSON or nothing. No form and no plain text: those a web page may send without asking first. */
export function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (_request, body: string, done: (error: Error | null, parsed?: unknown) => void) => {
      if (body.trim() === '') return done(null, undefined);
      try {
        done(null, JSON.parse(body));
      } catch (error) {
        done(new OrchestratorError('INVALID_JSON', { problem: (error as Error).message }));
      }
    },
  );
}
