/** Breaks a text at blanks into lines of at most `columns`; a longer word is broken where it must be. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const together = last === '' ? word : `${last} ${word}`;
    if (together.length <= columns) lines[lines.length - 1] = together;
    else lines.push(...pieces(word, columns));
    if (lines[0] === '' && lines.length > 1) lines.shift();
  }
  return lines;
}

/** A path is broken behind a slash where there is one. */
function pieces(word: string, columns: number): string[] {
  const most = Math.max(1, columns);
  const found: string[] = [];
  let rest = word;
  while (rest.length > most) {
    const slash = rest.lastIndexOf('/', most - 1);
    const end = slash > 0 ? slash + 1 : most;
    found.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...found, rest];
}
