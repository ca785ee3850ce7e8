/**
 * One argument of a tmux command line, safe for any text: inside double quotes tmux still expands `$`, `~`, `#` and
 * backslashes, and a control connection ends its command at a newline, so all of these travel as octal escapes.
 * NUL cannot be carried at all.
 */
export function quoteArgument(text: string): string {
  if (text.includes('\0')) throw new Error('a NUL byte cannot be sent to tmux');
  // eslint-disable-next-line no-control-regex -- control bytes are what this is about
  return `"${text.replace(/[\u0001-\u001f\u007f"$\\#~;]/g, octal)}"`;
}

/** These block the connection, or give an answer for every command they run: later answers would be taken for theirs. */
const UNFIT = ['source-file', 'if-shell', 'wait-for', 'confirm-before', 'command-prompt'];

export function quoteCommand(args: readonly string[]): string {
  const [name, ...rest] = args;
  if (name === undefined || !/^[a-z][a-z-]*$/.test(name))
    throw new Error(`not a tmux command name: ${String(name)}`);
  if (UNFIT.includes(name)) throw new Error(`${name} cannot be used over a control connection`);
  return [name, ...rest.map(quoteArgument)].join(' ');
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
