#!/usr/bin/env node
// An agent without a terminal that does nothing but speak: "lines N every M ms" in its prompt. Each line says when it
// was written, in nanoseconds of the clock that all processes of the machine share; the first one when it was started.
'use strict';
const started = process.hrtime.bigint();
if (process.argv.includes('--version')) {
  process.stdout.write('1.0.0\n');
  process.exit(0);
}
const line = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const say = (text) =>
  line({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: 'speaker',
  });

let prompt = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => (prompt += text));
process.stdin.on('end', () => void speak());

async function speak() {
  const [, lines = '0', every = '0', bytes = '100'] =
    /lines (\d+) every (\d+) ms of (\d+)/.exec(prompt) ?? [];
  const filler = 'x'.repeat(Number(bytes));
  line({
    type: 'system',
    subtype: 'init',
    cwd: process.cwd(),
    session_id: 'speaker',
    tools: [],
    model: 'none',
  });
  say(`started ${started} `);
  for (let sent = 0; sent < Number(lines); sent++) {
    if (Number(every) > 0) await new Promise((resolve) => setTimeout(resolve, Number(every)));
    say(`at ${process.hrtime.bigint()} ${filler}`);
  }
  line({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'said',
    session_id: 'speaker',
    num_turns: 1,
    total_cost_usd: 0,
    usage: { input_tokens: 1, output_tokens: 1 },
    permission_denials: [],
  });
}
