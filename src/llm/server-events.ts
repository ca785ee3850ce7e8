/** Longer than any event of a model's answer. */
const LONGEST = 10 * 1024 * 1024;

/** `data` of each server-sent event of a body, in order. An event that has not ended with the body is none. */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > LONGEST) throw new Error(`an event of more than ${LONGEST} characters`);
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).replace(/^ /, ''));
      if (data.length > 0) yield data.join('\n');
    }
  }
}
