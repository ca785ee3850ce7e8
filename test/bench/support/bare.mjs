// What physics takes: one process with readline, JSON.parse, node:http and one append to the same store, and nothing
// else. Told what to do over IPC, answers with its figures.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, folder, speaker] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(join(root, 'dist/store/open-store.js')).href);
const clock = { now: () => Date.now(), after: () => () => undefined };
const store = openStore({ path: join(folder, 'bare.db'), clock });
const said = (text) => ({
  type: 'text.completed',
  session_id: '00000000',
  source: 'agent',
  evidence: 'protocol',
  data: { text },
});

/** An agent's lines, read, parsed and appended one by one; with `store: false` only read and parsed. */
async function relay({ prompt, keep }) {
  const before = process.cpuUsage();
  const agent = spawn(process.execPath, [speaker], { stdio: ['pipe', 'pipe', 'inherit'] });
  agent.stdin.end(prompt);
  const delays = [];
  let lines = 0;
  for await (const line of createInterface({ input: agent.stdout })) {
    const at = process.hrtime.bigint();
    const { message } = JSON.parse(line);
    const text = message?.content[0].text;
    if (text === undefined) continue;
    lines++;
    if (keep) store.append(said(text));
    if (text.startsWith('at ')) delays.push(Number(at - BigInt(text.split(' ')[1])) / 1_000);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: user + system, lines, delays };
}

/** A server whose every request is one body, parsed, and one append. */
async function serve() {
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const { text } = JSON.parse(Buffer.concat(parts).toString('utf8'));
      const stored = store.append(said(text));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ seq: stored.seq }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port };
}

/** Milliseconds until an agent says that it was started, by its own clock. */
async function start() {
  const asked = process.hrtime.bigint();
  const agent = spawn(process.execPath, [speaker], { stdio: ['pipe', 'pipe', 'inherit'] });
  agent.stdin.end('nothing');
  let ms = null;
  for await (const line of createInterface({ input: agent.stdout })) {
    const [, noted] = /"text":"started (\d+) /.exec(line) ?? [];
    if (noted !== undefined) ms = Number(BigInt(noted) - asked) / 1e6;
  }
  return { ms };
}

const tasks = { relay, serve, start };
process.on('message', ({ task, input }) => {
  void tasks[task](input).then((answer) => process.send(answer));
});
process.on('disconnect', () => process.exit(0));
process.send('ready');
