import type { CliHost, DetectedAgent, KnownAgent, Surroundings } from '../host.js';
import { leadsToInstall } from '../goal/no-agents.js';
import { createPaint, type Paint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { table } from '../output/table.js';

export async function detect(host: CliHost, options: { json: boolean }): Promise<number> {
  const [agents, surroundings] = await Promise.all([host.detectAgents(null), host.detectSurroundings()]);
  const known = host.knownAgents();
  if (options.json) host.terminal.out(`${JSON.stringify(asJson(agents, surroundings), null, 2)}\n`);
  else
    host.terminal.out(
      render(agents, surroundings, {
        paint: createPaint(host.terminal, host.env, 'stdout'),
        known,
      }),
    );
  return 0;
}

function asJson(agents: readonly DetectedAgent[], surroundings: Surroundings): Record<string, unknown> {
  return {
    agents: agents.map(({ displayName, ...agent }) => ({ ...agent, display_name: displayName })),
    providers: surroundings.providers.map(({ name, variable, keyPresent }) => ({
      name,
      variable,
      key_present: keyPresent,
    })),
    capabilities: surroundings.capabilities,
    tools: surroundings.tools,
  };
}

function render(
  agents: readonly DetectedAgent[],
  { providers, capabilities, tools }: Surroundings,
  options: { paint: Paint; known: readonly KnownAgent[] },
): string {
  const { paint } = options;
  const yes = (value: boolean) => (value ? paint.good('yes') : paint.faint('no'));
  const head = ['name', 'type', 'version', 'parallel', 'mcp', 'can be started'].map((title) =>
    paint.faint(title),
  );
  const rows = agents.map((agent) => [
    paint.strong(agent.name),
    agent.kind,
    plain(agent.version),
    yes(agent.parallel),
    yes(agent.mcp),
    agent.launchable ? yes(true) : paint.faint('not by this version'),
  ]);
  const found = agents.length === 0 ? noneFound(options.known) : table([head, ...rows], '  ');
  const onlyByName = options.known.filter((agent) => agent.onlyByName);
  const builtIn = onlyByName.map(
    ({ name }) => `  built in, used only when named: ${name} (--agents ${name})`,
  );
  const keys = providers.map(({ name, variable, keyPresent }) => [
    name,
    keyPresent ? paint.good('key present') : paint.faint('no key'),
    paint.faint(variable),
  ]);
  const extras = capabilities.map(({ name, present, note }) => [
    name,
    present ? paint.good('present') : paint.faint('absent'),
    paint.faint(note),
  ]);
  const programs = tools.map(({ name, version }) => [name, version ?? paint.bad('not found')]);
  const section = (title: string, text: string) => `${paint.strong(title)}\n${text}`;
  return `${[
    section('agents', [found, ...builtIn].join('\n')),
    section('LLM providers (for planning; not needed)', table(keys, '  ')),
    section('capabilities', table(extras, '  ')),
    section('tools', table(programs, '  ')),
  ].join('\n\n')}\n`;
}

function noneFound(known: readonly KnownAgent[]): string {
  const names = known.filter((agent) => !agent.onlyByName).map(({ name }) => name);
  return [
    '  none found on PATH',
    `  looked for: ${names.join(', ')}`,
    `  to begin: install ${leadsToInstall(known)}, and log in once; or see it work: agentorchestr demo`,
  ].join('\n');
}
