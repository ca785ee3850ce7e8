import { z } from 'zod';
import { PERSPECTIVES } from '../context/perspectives.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';

export const listPerspectivesOperation = defineOperation({
  name: 'list_perspectives',
  summary: 'List the roles a worker can have.',
  effect: 'read',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  input: z.object({}),
  output: z.object({
    perspectives: z.array(z.object({ name: z.string(), role: z.string(), read_only: z.boolean() })),
  }),
  run: async () => ({
    perspectives: [...PERSPECTIVES]
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ name, role, readOnly }) => ({ name, role, read_only: readOnly })),
  }),
});
