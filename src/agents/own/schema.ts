import { z } from 'zod';
import { WAITING_KINDS } from '../../core/state/states.js';
import { STREAM_FORMATS } from '../contract.js';
import { unknownPlaceholder } from './template.js';

const text = z.string().min(1);
const template = z.string().superRefine((value, context) => {
  const problem = unknownPlaceholder(value);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});
const pattern = z.string().superRefine((value, context) => {
  try {
    new RegExp(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});
const score = z.number().int().min(0).max(10);
const seconds = z.number().positive().max(86_400);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of an environment variable');
const fileName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'not a plain file name');

const launch = {
  argv: z.array(template).min(1),
  /** Added where permission prompts are off, and where they are on. */
  bypass_args: z.array(template).default([]),
  default_args: z.array(template).default([]),
  /** Written into the worker's private folder before it starts. */
  files: z.record(fileName, template).default({}),
  mcp_call_limit_s: seconds.default(60),
};

const screenRule = z
  .strictObject({
    when: pattern,
    means: z.enum(['idle', 'working', 'waiting', 'error']),
    kind: z.enum(WAITING_KINDS).optional(),
  })
  .refine(({ means, kind }) => kind === undefined || means === 'waiting' || means === 'error', {
    message: 'kind is for waiting and error only',
    path: ['kind'],
  });

/** What makes it possible to type for the agent, and to see what it does. */
const screen = z.strictObject({
  recorded_version: text.default('unknown'),
  tail_rows: z.number().int().min(1).max(200).default(30),
  states: z.array(screenRule).min(1),
  composer: z.strictObject({
    prompt: pattern,
    end: pattern,
    above: pattern.optional(),
    border: pattern.optional(),
  }),
});

const pane = z.strictObject({
  ...launch,
  ready_timeout_s: seconds.default(60),
  submit_key: text.default('Enter'),
  interrupt_key: text.default('Escape'),
  submit_delay_ms: z.number().int().min(0).max(10_000).default(0),
  steers: z.boolean().default(false),
  tools_at_start: z.boolean().default(false),
  paste_limit_bytes: z.number().int().min(1).default(100_000),
  /** Texts that its composer would change: handed over as a file instead. */
  paste_unsafe: pattern.optional(),
  /** What stands before its first text on its command line, where it takes one there; absent: it does not. */
  first_prompt_args: z.array(z.string()).optional(),
  screen,
});

const turn = z.strictObject({ ...launch, format: z.enum(STREAM_FORMATS).default('plain') });

const option = z.strictObject({
  summary: text,
  required: z.boolean().default(false),
  file: z.boolean().default(false),
  /** Added where the option is given; `{value}` stands for it. */
  args: z.array(template).min(1),
});

export const ownAgentSchema = z.strictObject({
  display_name: text.optional(),
  binaries: z.array(text).min(1).optional(),
  version_args: z.array(z.string()).optional(),
  orchestrate: score.optional(),
  implement: score.optional(),
  parallel: z.boolean().optional(),
  mcp: z.boolean().optional(),
  only_by_name: z.boolean().optional(),
  /** `bypass`: off where the session has them off; `default`: always as the agent's own configuration says. */
  permissions: z.enum(['bypass', 'default']).optional(),
  args: z.array(template).optional(),
  env: z.record(variable, template).optional(),
  guard_variables: z.array(variable).optional(),
  options: z.record(z.string().regex(/^[a-z][a-z0-9_-]*$/, 'not a name of an option'), option).optional(),
  pane: pane.optional(),
  turn: turn.optional(),
});

export const ownAgentsSchema = z.strictObject({
  agents: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'not a name: lower-case letters, digits, dashes'),
      ownAgentSchema,
    )
    .default({}),
});

export type OwnAgent = z.output<typeof ownAgentSchema>;
export type OwnPane = z.output<typeof pane>;
export type OwnTurn = z.output<typeof turn>;
