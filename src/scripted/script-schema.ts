import { z } from 'zod';

/**
 * The language of scripts. A step is one mapping with exactly one action (the key that names what is done) and its
 * modifiers; every string in it may hold `{{path}}` of the conversation's values.
 */

const values = z.record(z.string(), z.unknown());
/** path → what must be there: a value, a list (any of), {match: regexp}, {not: …}, {exists: true|false}. */
const conditions = z.record(z.string(), z.unknown());
const milliseconds = z.number().nonnegative();

const common = {
  /** The step is skipped unless all conditions hold over the conversation's values. */
  if: conditions.optional(),
};

const calling = {
  /** Keeps the result under this name; `last` always holds the latest. */
  save: z.string().optional(),
  /** Conditions over the result; otherwise the turn fails. */
  expect: conditions.optional(),
  /** Calls again until these hold, or while those hold; at most `limit` times. */
  until: conditions.optional(),
  while: conditions.optional(),
  limit: z.number().int().positive().default(1_000),
  /** The tool must answer with this error code. */
  expect_error: z.string().optional(),
  /** An error of the tool is a result like any other. */
  allow_error: z.boolean().default(false),
  timeout_ms: milliseconds.optional(),
  /** Another call with the same input after the server was away; false: the step fails. */
  retry: z.boolean().default(true),
};

const step = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject({ ...shape, ...common });

const SIMPLE = {
  say: step({ say: z.string() }),
  print: step({ print: z.string() }),
  think: step({ think: milliseconds, about: z.string().optional() }),
  pause: step({ pause: z.number().nonnegative() }),
  set: step({ set: values }),
  call: step({ call: z.string(), with: values.default({}), ...calling }),
  report_done: step({ report_done: z.string(), insist: z.boolean().default(false), ...calling }),
  report_blocked: step({ report_blocked: z.string(), ...calling }),
  ask_lead: step({ ask_lead: z.string(), ...calling }),
  run: step({
    run: z.union([z.string(), z.array(z.string()).min(1)]),
    save: z.string().optional(),
    expect: conditions.optional(),
    allow_fail: z.boolean().default(false),
    timeout_ms: milliseconds.default(60_000),
  }),
  write: step({ write: z.string(), content: z.string() }),
  append: step({ append: z.string(), content: z.string() }),
  replace: step({ replace: z.string(), from: z.string(), to: z.string(), all: z.boolean().default(false) }),
  commit: step({ commit: z.string(), paths: z.array(z.string()).min(1).default(['.']) }),
  flag: step({ flag: z.string(), summary: z.string().default(''), path: z.string().optional() }),
  sentinel: step({ sentinel: z.enum(['done', 'blocked', 'failed']), summary: z.string().default('') }),
  permission: step({
    permission: z.string(),
    /** The tool that the hook address is told of. */
    tool: z.string().default('Bash'),
    save: z.string().optional(),
    go_on: z.boolean().default(false),
  }),
  notify: step({ notify: z.string(), kind: z.string().default('dialog') }),
  crash: step({
    crash: z.union([
      z.number().int().min(0).max(255),
      z.string().regex(/^SIG[A-Z0-9]+$/, 'an exit code or a signal such as SIGKILL'),
    ]),
  }),
  exit: step({ exit: z.number().int().min(0).max(255) }),
  ignore_signals: step({ ignore_signals: z.boolean() }),
  fork: step({
    fork: z.union([z.literal(true), z.number().int().min(1).max(20)]),
    save: z.string().optional(),
  }),
  silence: step({ silence: z.literal(true) }),
  sleep_until_interrupt: step({ sleep_until_interrupt: z.literal(true) }),
  fail: step({ fail: z.string() }),
  end: step({ end: z.literal(true) }),
} as const;

type Simple = typeof SIMPLE;
export type SimpleStep = { [Name in keyof Simple]: { action: Name } & z.output<Simple[Name]> }[keyof Simple];
export type StepOf<Name extends Step['action']> = Extract<Step, { action: Name }>;
type Conditions = Record<string, unknown>;

/** Steps that hold steps. */
export interface ParallelStep {
  action: 'parallel';
  parallel: Step[];
  if?: Conditions | undefined;
}
export interface RepeatStep {
  action: 'repeat';
  repeat: number | string;
  as: string;
  steps: Step[];
  if?: Conditions | undefined;
}
export type Step = SimpleStep | ParallelStep | RepeatStep;

const steps: z.ZodType<Step[]> = z.array(z.lazy(() => stepSchema)).min(1);

const NESTED = {
  parallel: step({ parallel: steps }),
  repeat: step({
    repeat: z.union([z.number().int().nonnegative(), z.string()]),
    as: z.string().default('index'),
    steps,
  }),
} as const;

/** Every action that a step may have. */
export const ACTIONS: readonly string[] = [...Object.keys(SIMPLE), ...Object.keys(NESTED)];

const SCHEMAS: Readonly<Record<string, z.ZodType>> = { ...SIMPLE, ...NESTED };

/** Finds the action first, so that a mistake is told in the words of that action and not of all of them. */
const stepSchema: z.ZodType<Step> = z.unknown().transform((raw, context): Step => {
  const complain = (message: string, path: PropertyKey[] = []) => {
    context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  };
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return complain('a step is a mapping such as "say: text"');
  const actions = Object.keys(raw).filter((key) => Object.hasOwn(SCHEMAS, key));
  const [action] = actions;
  if (action === undefined)
    return complain(`no step is called "${Object.keys(raw).join('", "')}"; steps are: ${ACTIONS.join(', ')}`);
  if (actions.length > 1) return complain(`one step does one thing; this one has ${actions.join(' and ')}`);
  const parsed = SCHEMAS[action]?.safeParse(raw);
  if (parsed?.success === true) return { action, ...(parsed.data as object) } as Step;
  for (const issue of parsed?.error.issues ?? []) {
    const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    complain(issue.message, [...issue.path, ...key]);
  }
  return z.NEVER;
});

const ruleSchema = z.strictObject({
  name: z.string().optional(),
  /** Regular expression over the prompt, `^` and `$` match at lines; named groups become values. */
  match: z.string().refine(isRegExp, 'not a regular expression').optional(),
  /** Plain text, or several that must all occur. */
  contains: z.union([z.string(), z.array(z.string())]).optional(),
  /** Only when the last rule that applied in this conversation has one of these names. */
  after: z.union([z.string(), z.array(z.string())]).optional(),
  if: conditions.optional(),
  /** At most so often in one conversation. */
  times: z.number().int().positive().optional(),
  steps: z.array(stepSchema),
  /** Played when a step failed (`{{failure}}` says why); when they succeed the turn counts as ended, not as failed. */
  on_failure: z.array(stepSchema).optional(),
});

export type Rule = z.output<typeof ruleSchema>;

export const scriptSchema = z.strictObject({
  name: z.string().default('script'),
  settings: z
    .strictObject({
      /** false: no hook is ever posted, so that only the screen tells. */
      hooks: z.boolean().default(true),
      /** Asks for trust in the folder before anything else. */
      trust_dialog: z.boolean().default(false),
      start_delay_ms: milliseconds.default(0),
      echo_delay_ms: milliseconds.default(0),
      /** Keys that come so soon after a dialog was drawn are lost, as with real agents. */
      dialog_deaf_ms: milliseconds.default(0),
      suggestion: z.string().default(''),
      /** How long calls wait for an MCP server that is away. */
      mcp_patience_ms: milliseconds.default(30_000),
      values: values.default({}),
    })
    .prefault({}),
  lead: z.array(ruleSchema).default([]),
  workers: z.array(ruleSchema).default([]),
});

export type Script = z.output<typeof scriptSchema>;

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source, 'm') instanceof RegExp;
  } catch {
    return false;
  }
}
