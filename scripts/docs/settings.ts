import { AGENT_OPTIONS, SETTINGS, type Setting } from '../../src/config/schema.js';
import { SETTING_FLAGS } from '../../src/doors/cli/flags.js';
import { flagName } from '../../src/doors/cli/help.js';
import { code, GENERATED, page, table } from './markdown.js';

const IN_PROJECT: Readonly<Record<Setting['scope'], string>> = {
  any: 'yes',
  lower: 'only lower',
  user: 'no',
};

export function settingsPage(): string {
  return page(
    '# Settings',
    GENERATED,
    'What can be kept for new sessions. A later place wins: what is built in, your `config.toml`, the project’s `.agentorchestr/config.toml`, the environment, flags. How to set them: [the guide](../guides/settings.md). What holds here, and why: `agentorchestr config explain`.',
    table(
      ['setting', 'takes', 'default', 'in a project', 'environment variable', 'flag', 'meaning'],
      SETTINGS.map(row),
    ),
    '“In a project” says whether a project’s file may set it. `no`: it decides what agents may do, or what runs as you, so a project’s file with it is refused and nothing starts. `only lower`: it limits what a session may cost, and counts where it is lower than what you have set, or what is built in; else it is not used, with a warning.',
    `${code(`${AGENT_OPTIONS}.AGENT.OPTION`)} sets an option of one agent, as ${code('--agent-option AGENT.OPTION=VALUE')} does for one session. [Which there are](agents.md). A project may set it, but to no value that begins with a dash.`,
  );
}

function row(setting: Setting): string[] {
  const { key, takes, fallback, scope, variable, summary } = setting;
  return [
    code(key),
    takes,
    fallback === null ? 'none' : code(JSON.stringify(fallback)),
    IN_PROJECT[scope],
    `${code(variable)}${separated(setting)}`,
    flagOf(setting),
    summary,
  ];
}

function separated({ separator }: Setting): string {
  if (separator === undefined) return '';
  return separator === ',' ? ', with commas' : ', one a line';
}

function flagOf({ flag }: Setting): string {
  if (flag === null) return 'none';
  const known = SETTING_FLAGS.find(({ name }) => flag === `--${name}`);
  if (known === undefined) throw new Error(`no flag ${flag} among those that beat a setting`);
  return known.negatable === true && known.shownNegated !== true
    ? `${code(flag)}, ${code(`--no-${known.name}`)}`
    : code(flagName(known));
}
