const WRAPPER = /^\s*<pasted_content id="([^"]*)">\n([^]*)\n<\/pasted_content id="\1">\n?$/;

/** The text as it was pasted: large pastes are given to the model, to hooks and to the transcript in a wrapper. */
export function unwrapped(prompt: string): string {
  return WRAPPER.exec(prompt)?.[2] ?? prompt;
}
