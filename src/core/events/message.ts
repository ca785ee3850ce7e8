import { z } from 'zod';
import { event } from './define.js';

/** `message_id` is in every entry: these events are one receipt (DESIGN §6). `worker_id` of the envelope is the addressee. */
const message_id = z.string();

export const messageEvents = {
  'message.accepted': event('An instruction or notice was taken on; from here on it is not lost.', {
    message_id,
    kind: z
      .enum(['task', 'follow_up', 'notice', 'nudge', 'system', 'assistant'])
      .describe('system, assistant: said beforehand; the agent gets it with the next instruction after it'),
    sender: z.string(),
    text: z.string(),
    about: z.string().nullable().describe('for a notice: the worker it tells of'),
  }),
  'message.queued': event('It waits for its turn: the agent is busy or not started.', { message_id }),
  'message.held': event('It is kept back from the pane; delivered when the reason is gone.', {
    message_id,
    reason: z.enum(['human_draft', 'dialog', 'copy_mode', 'working', 'not_ready', 'unknown_screen']),
  }),
  'message.typed': event('Its text is in the composer of the agent.', { message_id, bytes: z.number() }),
  'message.submitted': event('The agent took it.', {
    message_id,
    how: z
      .string()
      .describe('what proved it, in words: hook, composer emptied and turn started, tool result …'),
  }),
  'message.started': event('The turn that it asked for began.', { message_id }),
  'message.answered': event('The turn that it asked for ended.', { message_id }),
  'message.unconfirmed': event(
    'It was typed, but nothing proves that the agent took it. The screen is attached.',
    {
      message_id,
      screen: z.string().describe('what the pane showed; of one that is gone, why it went'),
    },
  ),
  'message.refused': event('It cannot be delivered.', { message_id, reason: z.string() }),
};
