import type { OfferedCommand } from './offers.js';

export interface Entry {
  readonly name: string;
  readonly summary: string;
}

/** What may follow once the words of a command are typed. */
export interface Place {
  readonly words: string;
  readonly verbs: readonly Entry[];
  readonly flags: readonly Entry[];
  /** `--flag:offer`, of each that takes a value. */
  readonly takes: readonly string[];
  readonly positionals: readonly string[];
}

/** Every place of a program: its commands, and the groups that they stand in. */
export function placesOf(commands: readonly OfferedCommand[]): Place[] {
  const words = new Set(commands.flatMap((command) => beginnings(command.words)));
  return [...words].map((place) => {
    const command = commands.find((one) => one.words === place);
    const flags = command?.flags ?? [];
    return {
      words: place,
      verbs: verbsAt(place, words, commands),
      flags: flags.flatMap(({ names, summary }) => names.map((name) => ({ name, summary }))),
      takes: flags.flatMap(({ names, value }) =>
        value === null ? [] : names.map((name) => `${name}:${value}`),
      ),
      positionals: command?.positionals ?? [],
    };
  });
}

function beginnings(words: string): string[] {
  const parts = words === '' ? [] : words.split(' ');
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join(' '))];
}

function verbsAt(place: string, all: ReadonlySet<string>, commands: readonly OfferedCommand[]): Entry[] {
  const before = place === '' ? '' : `${place} `;
  return [...all]
    .filter(
      (words) => words !== place && words.startsWith(before) && !words.slice(before.length).includes(' '),
    )
    .map((words) => ({
      name: words.slice(before.length),
      summary: commands.find((one) => one.words === words)?.summary ?? below(words, commands),
    }));
}

/** A group says which verbs it has. */
function below(group: string, commands: readonly OfferedCommand[]): string {
  const verbs = commands.filter(({ words }) => words.startsWith(`${group} `));
  return verbs.map(({ words }) => words.slice(group.length + 1)).join(', ');
}
