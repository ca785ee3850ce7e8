const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** An agent's hook may give the text back trimmed and with its own line ends. */
export function isSameText(a: string, b: string): boolean {
  return normal(a) === normal(b);
}

/** A person may have typed around what we pasted, or messages may have been taken together. */
export function holdsText(whole: string, part: string): boolean {
  return normal(whole).includes(normal(part));
}

/** Control bytes never reach an agent: they are left out of what is typed. */
function normal(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL, '').trim();
}
