/**
 * What a shell may offer in one place of a command line, in a form that stands in the scripts as it is: `files`,
 * `folders`, `=a,b` (these words), `@completion/sessions` (what the program answers to these words, one a line, each
 * with a tab and what it is), `.` (nothing: it is the person's to type). A `+` before it: as many as are given.
 */
export type Offer = string;

export const ANYTHING: Offer = '.';
export const FILES: Offer = 'files';
export const FOLDERS: Offer = 'folders';
export const SESSIONS: Offer = '@completion/sessions';
/** Those that `--resume` would show or take up. */
export const RESUMABLE: Offer = '@completion/resumable';
export const AGENTS: Offer = '@completion/agents';

export function several(offer: Offer): Offer {
  return `+${offer}`;
}

/** Words that a shell would have to quote are left for the person. */
export function oneOf(words: readonly string[]): Offer {
  const plain = words.filter((word) => /^[\w.-]+$/.test(word));
  return plain.length === 0 ? ANYTHING : `=${plain.join(',')}`;
}

/** `a|b` stands for one of these words; every other sign for a value says nothing. */
export function offerOfSign(sign: string): Offer {
  return sign.includes('|') ? oneOf(sign.split('|')) : ANYTHING;
}

export interface OfferedFlag {
  /** With its dashes. */
  readonly names: readonly string[];
  readonly summary: string;
  /** null: it takes no value. */
  readonly value: Offer | null;
}

export interface OfferedCommand {
  /** Its words with a blank between them; '' is the program itself. */
  readonly words: string;
  readonly summary: string;
  readonly flags: readonly OfferedFlag[];
  readonly positionals: readonly Offer[];
}

/** A program of its own as a command of another: `agentorchestr gateway …`. */
export function nested(commands: readonly OfferedCommand[], word: string): OfferedCommand[] {
  const within = (offer: Offer) => offer.replace('@', `@${word}/`);
  return commands.map((command) => ({
    ...command,
    words: `${word} ${command.words}`.trim(),
    positionals: command.positionals.map(within),
    flags: command.flags.map((flag) => ({ ...flag, value: flag.value === null ? null : within(flag.value) })),
  }));
}
