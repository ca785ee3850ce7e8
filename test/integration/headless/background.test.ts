import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { HeadlessRig } from '../../support/headless-rig.js';

const RECORDED = fileURLToPath(
  new URL('../../fixtures/streams/claude/2.1.332/background.jsonl', import.meta.url),
);

let rig: HeadlessRig;
afterEach(() => rig.close());

/** A program that says what was recorded, and waits for the file `go` after the lines that come before `pause`. */
function saying(lines: readonly string[], pause = lines.length): HeadlessRig {
  const made = new HeadlessRig({ script: 'name: unused', argv: [] });
  const [first, second] = ['first', 'second'].map((name) => join(made.folder, name));
  writeFileSync(first ?? '', `${lines.slice(0, pause).join('\n')}\n`);
  writeFileSync(second ?? '', `${lines.slice(pause).join('\n')}\n`);
  const wait = pause === lines.length ? '' : `until test -e ${made.folder}/go; do sleep 0.05; done;`;
  const program = `cat > /dev/null; cat ${first}; ${wait} cat ${second}`;
  Object.assign(made.options, { argv: ['/bin/sh', '-c', program] });
  return made;
}

const lines = readFileSync(RECORDED, 'utf8').trim().split('\n');
const firstResult = lines.findIndex((line) => line.includes('"type":"result"')) + 1;

describe('a turn that goes on in the background', () => {
  it('is over with the last of its ends, not with the first', async () => {
    rig = saying(lines, firstResult);
    const run = rig.spawn('w01', 'go');
    const isIdle = () => rig.worker('w01').state === 'idle';
    await rig.until('its rest', () => rig.types('w01').includes('usage.reported') && isIdle());
    expect(rig.run(run).state).toBe('running');
    writeFileSync(join(rig.folder, 'go'), '');
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({ state: 'succeeded', summary: 'ok', evidence: 'protocol' });
  });

  it('is over with the first where its process ends and nothing woke it', async () => {
    rig = saying(lines.slice(0, firstResult));
    const run = rig.spawn('w01', 'go');
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({ state: 'succeeded', summary: 'in the background' });
  });
});
