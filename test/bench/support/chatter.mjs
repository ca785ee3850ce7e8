// Writes a line to each of these terminals, so many times a second. Told the terminals and the rate as arguments.
import { openSync, writeSync } from 'node:fs';

const [perSecond, ...terminals] = process.argv.slice(2);
const handles = terminals.map((path) => openSync(path, 'w'));
let said = 0;
setInterval(
  () => {
    const line = `${String(said++).padStart(8)} the quick brown fox jumps over the lazy dog\r\n`;
    for (const handle of handles) writeSync(handle, line);
  },
  1_000 / Number(perSecond),
);
process.send?.('writes');
