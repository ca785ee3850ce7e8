import { AGENTS } from '../../src/agents/registry.js';
import type { AgentAdapter } from '../../src/agents/contract.js';
import { code, GENERATED, page, table } from './markdown.js';
import { CASES, placeName, PLACES, type ContractCase } from '../../test/contract/table.js';

/** Why a place plays another kernel. */
const REASONS = [
  ...new Set(CASES.flatMap((one) => PLACES.flatMap((place) => one.except?.(place)?.why ?? []))),
];

export function agentsPage(): string {
  return page(
    '# Agents',
    GENERATED,
    'What is known of each agent, and what every way to run one does alike.',
    '## Known',
    table(['name', 'agent', 'binaries', 'in a pane', 'without a terminal', 'options'], AGENTS.map(known)),
    '“Detected” only means: found by `--detect`; this version does not start it.',
    '## The contract',
    'One conversation, played in every place with the real programs. What it leaves of `message.*`, `run.*` and `worker.*` events is the same everywhere, in order; only how processes come and go differs (one that stays, or one a turn).',
    table(
      ['case', ...PLACES.map(placeName)],
      CASES.map((one) => [one.name, ...cells(one)]),
    ),
    ...REASONS.map((why, index) => `${mark(index)} ${why}.`),
    ...CASES.map(described),
  );
}

function known(adapter: AgentAdapter): string[] {
  const { name, displayName, binaries, interactive, headless, options = [] } = adapter;
  return [
    code(name),
    displayName,
    adapter.onlyByName === true ? 'ships with us' : binaries.map(code).join(', '),
    interactive === null ? 'detected' : `yes; screen recorded from ${interactive.screen.recordedVersion}`,
    headless === null ? '' : 'yes',
    options.map(({ name: option }) => code(`${name}.${option}`)).join(', '),
  ];
}

function cells(one: ContractCase): string[] {
  return PLACES.map((place) => {
    const except = one.except?.(place);
    return except === undefined ? '✓' : mark(REASONS.indexOf(except.why));
  });
}

function mark(index: number): string {
  return '¹²³⁴⁵⁶⁷⁸⁹'[index] ?? '*';
}

function described({ name, summary, kernel }: ContractCase): string {
  const nouns = Object.entries(kernel) as [string, readonly string[]][];
  const lines = nouns.map(([noun, list]) => `- ${noun}: ${list.map(code).join(' → ')}`);
  return [`### ${name}`, '', summary, '', ...lines].join('\n');
}
