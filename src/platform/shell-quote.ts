/** A word that every POSIX shell reads back as exactly `text`. */
export function shellQuote(text: string): string {
  if (text.includes('\0')) throw new Error('a NUL byte cannot be given to a process');
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
