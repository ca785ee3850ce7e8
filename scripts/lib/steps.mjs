import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const STEP_LIMIT_MS = 10 * 60_000;

/** The steps of the gate that run no test. Order: longest first, so that two at a time end together. */
export const STATIC_STEPS = [
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'format', command: ['prettier', '--check', '--log-level', 'warn', '.'] },
  { name: 'unused', command: ['knip', '--no-progress', '--no-config-hints'] },
  { name: 'boundaries', command: ['node', 'scripts/boundaries.mjs'] },
  { name: 'lint', command: ['oxlint', '--quiet'] },
];

/**
 * Runs steps, `parallel` at a time, in the order given. Prints one line per step with its time, and the whole
 * output of a step only when it failed. Returns the names of those that failed.
 */
export async function runSteps(steps, { parallel }) {
  const waiting = [...steps];
  const failed = [];
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const startedAt = performance.now();
      const { code, output } = await runQuietly(step.command);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(`${code === 0 ? '✓' : '✗'} ${step.name} ${seconds} s`);
      if (code === 0) continue;
      failed.push(step.name);
      console.log(output.trimEnd().replace(/^/gm, '    '));
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return failed;
}

/**
 * Runs a command of this repository on the terminal, however long it takes, and returns its exit code. `output`: the
 * descriptor that what it prints goes to.
 */
export function runLoudly(command, env = {}, output = 1) {
  return new Promise((done) => {
    start(command, { env, stdio: ['inherit', output, 2] })
      .on('error', () => done(1))
      .on('close', (code) => done(code ?? 1));
  });
}

function runQuietly(command) {
  return new Promise((done) => {
    let output = '';
    const child = start(command, { stdio: ['ignore', 'pipe', 'pipe'], timeout: STEP_LIMIT_MS });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => done({ code: 1, output: `${command[0]}: ${error.message}` }));
    child.on('close', (code, signal) =>
      done({ code, output: code === null ? `${output}\nended by ${signal}` : output }),
    );
  });
}

function start([file, ...args], { env = {}, ...options }) {
  const path = `${root}node_modules/.bin:${process.env.PATH ?? ''}`;
  return spawn(file, args, { cwd: root, env: { ...process.env, PATH: path, ...env }, ...options });
}
