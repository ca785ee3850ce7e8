/** The text with its first letter in upper case. */
export function capitalize(text) {
  if (typeof text !== 'string') throw new TypeError('capitalize wants text');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
