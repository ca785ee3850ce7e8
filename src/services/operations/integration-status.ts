import { z } from 'zod';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { integrationStatus } from '../supervise/integration-status.js';

export const integrationStatusOperation = defineOperation({
  name: 'integration_status',
  summary: 'Show what is integrated, what is not, and the last verification.',
  effect: 'read',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  input: z.object({}),
  output: integrationStatus.schema,
  run: async ({ session }) => integrationStatus.read(session),
});
