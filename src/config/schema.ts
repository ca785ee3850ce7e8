import { z } from 'zod';

export type SettingValue = string | number | boolean | readonly string[];

export interface Setting {
  readonly key: string;
  readonly schema: z.ZodType<SettingValue>;
  /** What it takes, in words. */
  readonly takes: string;
  /**
   * `user`: it decides what agents may do, or what runs as you; a project's file must not. `lower`: it limits what a
   * session may cost; a project's file counts only where it is lower than what you have set, or what is built in.
   */
  readonly scope: 'user' | 'lower' | 'any';
  /** Its values are names of agents; which there are, the agents say. */
  readonly namesAgents?: true;
  readonly variable: string;
  /** Between the values of a list in the variable. */
  readonly separator?: ',' | '\n';
  readonly flag: string | null;
  /** null: nothing is set, and something is chosen or left out. */
  readonly fallback: SettingValue | null;
  readonly summary: string;
}

const name = z.string().regex(/\S/);
const number = (most: number, least = 1) => ({
  schema: z.number().int().min(least).max(most),
  takes: `a whole number from ${least} to ${most}`,
});
const onOff = { schema: z.boolean(), takes: 'true or false' } as const;

/** Every setting that can be kept; each is wired into the plan of a new session, and a flag beats it. */
export const SETTINGS: readonly Setting[] = [
  {
    ...{ key: 'lead', schema: name, takes: 'the name of an agent', scope: 'any', fallback: null },
    ...{ variable: 'AGENTORCHESTR_LEAD', flag: '--lead', summary: 'this agent leads', namesAgents: true },
  },
  {
    ...{ key: 'agents', schema: z.array(name).min(1), takes: 'a list of names of agents', scope: 'any' },
    ...{ variable: 'AGENTORCHESTR_AGENTS', separator: ',', flag: '--agents', fallback: null },
    ...{ summary: 'only these agents', namesAgents: true },
  },
  {
    ...{ key: 'headless', ...onOff, scope: 'any', variable: 'AGENTORCHESTR_HEADLESS', flag: '--headless' },
    ...{ fallback: false, summary: 'workers run without a terminal of their own' },
  },
  {
    ...{ key: 'verify', schema: z.array(name).min(1), takes: 'a list of commands', scope: 'user' },
    ...{ variable: 'AGENTORCHESTR_VERIFY', separator: '\n', flag: '--verify', fallback: null },
    summary: 'how to verify, where PROJECT.md says nothing',
  },
  {
    ...{ key: 'include_changes', ...onOff, scope: 'any', fallback: false },
    ...{ variable: 'AGENTORCHESTR_INCLUDE_CHANGES', flag: '--include-changes' },
    summary: 'start from your uncommitted changes too',
  },
  {
    ...{ key: 'fetch', ...onOff, scope: 'any', variable: 'AGENTORCHESTR_FETCH', flag: '--fetch' },
    ...{ fallback: false, summary: 'fetch before the base is chosen' },
  },
  {
    ...{ key: 'apply', ...onOff, scope: 'user', variable: 'AGENTORCHESTR_APPLY', flag: '--apply' },
    ...{ fallback: false, summary: 'bring the result into your checkout, if safe' },
  },
  {
    ...{ key: 'kill_tmux', ...onOff, scope: 'any', variable: 'AGENTORCHESTR_KILL_TMUX', flag: '--kill-tmux' },
    ...{ fallback: false, summary: 'close the panes at the end' },
  },
  {
    ...{ key: 'bypass', ...onOff, scope: 'user', variable: 'AGENTORCHESTR_BYPASS', flag: '--bypass' },
    ...{ fallback: true, summary: 'permission prompts of the agents are off' },
  },
  {
    ...{ key: 'lead_may_answer', ...onOff, scope: 'user', fallback: false },
    ...{ variable: 'AGENTORCHESTR_LEAD_MAY_ANSWER', flag: '--lead-may-answer' },
    summary: 'the lead may answer prompts of workers',
  },
  {
    ...{ key: 'limits.max_workers', ...number(64), scope: 'lower', fallback: 8 },
    ...{ variable: 'AGENTORCHESTR_MAX_WORKERS', flag: '--max-workers', summary: 'workers at one time' },
  },
  {
    ...{ key: 'limits.total_workers', ...number(10_000), scope: 'lower', fallback: 64 },
    ...{ variable: 'AGENTORCHESTR_TOTAL_WORKERS', flag: null, summary: 'workers of a session in all' },
  },
  {
    ...{ key: 'limits.spawns_per_minute', ...number(10_000), scope: 'lower', fallback: 12 },
    ...{ variable: 'AGENTORCHESTR_SPAWNS_PER_MINUTE', flag: null, summary: 'workers begun in a minute' },
  },
  {
    ...{ key: 'limits.session_timeout_s', ...number(31_536_000), scope: 'lower', fallback: null },
    ...{ variable: 'AGENTORCHESTR_SESSION_TIMEOUT_S', flag: '--session-timeout' },
    summary: 'seconds after which a session ends; pauses do not count',
  },
  {
    ...{ key: 'limits.run_timeout_s', ...number(31_536_000), scope: 'lower', fallback: null },
    ...{ variable: 'AGENTORCHESTR_RUN_TIMEOUT_S', flag: '--run-timeout' },
    summary: 'seconds that one task of a worker may take; then it is interrupted',
  },
  {
    ...{ key: 'limits.stall_s', ...number(31_536_000, 0), scope: 'user', fallback: 600 },
    ...{ variable: 'AGENTORCHESTR_STALL_S', flag: '--stall-after' },
    summary: 'seconds of silence of an agent at work until it is told; 0: never',
  },
  {
    ...{ key: 'tmux.user_config', schema: name, takes: 'the path of a file', scope: 'user', fallback: null },
    ...{ variable: 'AGENTORCHESTR_TMUX_CONFIG', flag: null },
    summary: 'tmux settings of yours, read on top of ours',
  },
  {
    ...{ key: 'tmux.end_shown_s', ...number(86_400), scope: 'any', fallback: 10 },
    ...{ variable: 'AGENTORCHESTR_TMUX_END_SHOWN_S', flag: null },
    summary: 'seconds that the end stays on your screen',
  },
];

/** `agent_options.AGENT.OPTION`: which there are, the agents say. */
export const AGENT_OPTIONS = 'agent_options';
export const agentOptionSchema = z.string().min(1);

export function findSetting(key: string): Setting | undefined {
  return SETTINGS.find((setting) => setting.key === key);
}

export function settingKeys(): readonly string[] {
  return SETTINGS.map(({ key }) => key);
}

/** The agent and the option that `agent_options.AGENT.OPTION` names. */
export function agentOptionOf(path: readonly string[]): { agent: string; option: string } | null {
  const [head, agent, option, ...rest] = path;
  if (head !== AGENT_OPTIONS || agent === undefined || option === undefined || rest.length > 0) return null;
  return { agent, option };
}
