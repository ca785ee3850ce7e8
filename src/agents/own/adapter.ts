import type { AgentAdapter, HeadlessLaunch, InteractiveLaunch, Launch, LaunchContext } from '../contract.js';
import { linePromptComposer } from '../screen-kit.js';
import type { OwnAgent, OwnPane, OwnTurn } from './schema.js';
import { filled } from './template.js';

/** The agents of the person: `known` with those of their file in place of, or behind, the ones of the same name. */
export function withOwnAgents(
  known: readonly AgentAdapter[],
  own: Readonly<Record<string, OwnAgent>>,
): readonly AgentAdapter[] {
  const changed = known.map((agent) => {
    const data = own[agent.name];
    return data === undefined ? agent : adapterOf(agent, data);
  });
  const names = new Set(known.map(({ name }) => name));
  const added = Object.entries(own)
    .filter(([name]) => !names.has(name))
    .map(([name, data]) => adapterOf(blank(name), data));
  return [...changed, ...added];
}

/** What an agent that we know nothing of can do until its owner says more. */
function blank(name: string): AgentAdapter {
  return {
    name,
    displayName: name,
    binaries: [name],
    kind: 'cli',
    scores: { orchestrate: 0, implement: 5 },
    capabilities: { parallel: true, mcp: false },
    versionArgs: ['--version'],
    guardVariables: [],
    interactive: null,
    headless: null,
  };
}

function adapterOf(base: AgentAdapter, own: OwnAgent): AgentAdapter {
  const { scores, capabilities } = base;
  const options = Object.entries(own.options ?? {}).map(([name, { summary, required, file }]) => ({
    ...{ name, summary, required, file },
  }));
  const interactive = own.pane === undefined ? base.interactive : interactiveOf(own.pane);
  const headless = own.turn === undefined ? base.headless : headlessOf(own.turn);
  return {
    ...base,
    displayName: own.display_name ?? base.displayName,
    binaries: own.binaries ?? base.binaries,
    versionArgs: own.version_args ?? base.versionArgs,
    scores: {
      orchestrate: own.orchestrate ?? scores.orchestrate,
      implement: own.implement ?? scores.implement,
    },
    capabilities: {
      parallel: own.parallel ?? capabilities.parallel,
      mcp: own.mcp ?? capabilities.mcp,
    },
    guardVariables: [...base.guardVariables, ...(own.guard_variables ?? [])],
    ...(own.only_by_name === undefined ? {} : { onlyByName: own.only_by_name }),
    options: [...(base.options ?? []).filter(({ name }) => own.options?.[name] === undefined), ...options],
    interactive: interactive === null ? null : { ...interactive, ...additions(interactive, own) },
    headless: headless === null ? null : { ...headless, ...additions(headless, own) },
  };
}

/** Arguments, variables and permissions, on top of how the agent is started anyway. */
function additions(launch: Launch, own: OwnAgent): Pick<Launch, 'argv' | 'env'> {
  const seen = (context: LaunchContext): LaunchContext =>
    own.permissions === 'default' ? { ...context, bypassPermissions: false } : context;
  return {
    argv: (context) => [
      ...launch.argv(seen(context)),
      ...Object.entries(own.options ?? {}).flatMap(([name, { args }]) => {
        const value = context.extra[name];
        return value === undefined ? [] : args.map((argument) => filled(argument, context, value));
      }),
      ...(own.args ?? []).map((argument) => filled(argument, context)),
    ],
    env: (context) => ({
      ...launch.env?.(seen(context)),
      ...Object.fromEntries(
        Object.entries(own.env ?? {}).map(([name, value]) => [name, filled(value, context)]),
      ),
    }),
  };
}

function launchOf(data: OwnPane | OwnTurn) {
  return {
    argv: (context: LaunchContext) =>
      [...data.argv, ...(context.bypassPermissions ? data.bypass_args : data.default_args)].map((argument) =>
        filled(argument, context),
      ),
    files: (context: LaunchContext) =>
      Object.entries(data.files).map(([name, content]) => ({ name, content: filled(content, context) })),
    hooks: null,
    transcript: null,
    mcpCallLimitMs: data.mcp_call_limit_s * 1_000,
    resumeErrors: { unknown: null, inUse: null },
  } satisfies Partial<Launch>;
}

function firstPromptOf({ first_prompt_args: args }: OwnPane): Pick<InteractiveLaunch, 'firstPrompt'> {
  return args === undefined ? {} : { firstPrompt: (text) => [...args, text] };
}

function interactiveOf(data: OwnPane): InteractiveLaunch {
  const { screen } = data;
  const { prompt, end, above, border } = screen.composer;
  return {
    ...launchOf(data),
    readyTimeoutMs: data.ready_timeout_s * 1_000,
    screen: {
      recordedVersion: screen.recorded_version,
      tailRows: screen.tail_rows,
      states: screen.states.map(({ when, means, kind }) => ({
        ...{ when: new RegExp(when), means },
        ...(kind === undefined ? {} : { kind }),
      })),
      composer: linePromptComposer({
        prompt: new RegExp(prompt),
        end: new RegExp(end),
        ...(above === undefined ? {} : { above: new RegExp(above) }),
        ...(border === undefined ? {} : { border: new RegExp(border, 'g') }),
      }),
    },
    keys: {
      submit: data.submit_key,
      interrupt: data.interrupt_key,
      redrawCapMs: 1_000,
      submitDelayMs: data.submit_delay_ms,
    },
    ...firstPromptOf(data),
    steers: data.steers,
    toolsAtStart: data.tools_at_start,
    paste: {
      limitBytes: data.paste_limit_bytes,
      unsafe: data.paste_unsafe === undefined ? null : new RegExp(data.paste_unsafe),
    },
  };
}

function headlessOf(data: OwnTurn): HeadlessLaunch {
  return {
    ...launchOf(data),
    format: () => data.format,
    paste: null,
  };
}
