import type { CliHost, DetectedAgent, Surroundings } from '../host.js';
import { createPaint, type Paint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { table } from '../output/table.js';

export async function detect(host: CliHost, options: { json: boolean }): Promise<number> {
  const [agents, surroundings] = await Promise.all([host.detectAgents(null), host.detectSurroundings()]);
  const byName = host.knownAgents().filter((agent) => agent.onlyByName);
  if (options.json) host.terminal.out(`${JSON.stringify(asJson(agents, surroundings), null, 2)}\n`);
  else
    host.terminal.out(
      render(agents, surroundings, {
        paint: createPaint(host.terminal, host.env, 'stdout'),
        byName: byName.map(({ name }) => name),
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
  options: { paint: Paint; byName: readonly string[] },
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
  const found = agents.length === 0 ? '  none found on PATH' : table([head, ...rows], '  ');
  const builtIn = options.byName.map(
    (name) => `  built in, used only when named: ${name} (--agents ${name})`,
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
