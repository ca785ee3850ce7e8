import type { FastifyInstance } from 'fastify';
import { parseJson } from '../shared/json.js';

/** JSON or nothing. No form and no plain text: those a web page may send without asking first. */
export function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (_request, body: string, done: (error: Error | null, parsed?: unknown) => void) => {
      if (body.trim() === '') return done(null, undefined);
      try {
        done(null, parseJson(body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}
