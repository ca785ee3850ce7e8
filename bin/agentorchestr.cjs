#!/usr/bin/env node
// Old syntax on purpose: an old Node must get as far as the message that says so. `--version` is answered before
// anything is loaded, `--list-sessions` by a file of its own.
'use strict';
const { existsSync, writeSync } = require('fs');
const { join } = require('path');

const args = process.argv.slice(2);
const entry = join(__dirname, '../dist/main/cli.js');

function refuse(error, hint) {
  process.stderr.write(`error: ${error}\nhint: ${hint}\n`);
  process.exitCode = 1;
}

function isTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < 20 || (major === 20 && minor < 19);
}

async function load() {
  const listOnly =
    args.includes('--list-sessions') && args.every((arg) => arg === '--list-sessions' || arg === '--json');
  return listOnly ? require('../dist/main/sessions-list.cjs') : import(entry);
}

if (args.length === 1 && args[0] === '--version') {
  // Not console.log, which takes longer to load than all the rest.
  try {
    writeSync(1, `agentorchestr ${require('../package.json').version}\n`);
  } catch (error) {
    // Nobody reads it.
    if (error.code !== 'EPIPE') throw error;
  }
} else if (isTooOld()) {
  refuse(`Node.js ${process.versions.node} is too old`, 'agentorchestr needs Node.js 20.19 or newer');
} else if (!existsSync(entry)) {
  refuse('this copy of agentorchestr is not built', `run: npm run build (in ${join(__dirname, '..')})`);
} else {
  load()
    .then((main) => main.run(args))
    .catch((problem) => {
      if (problem.code !== 'ERR_MODULE_NOT_FOUND' && problem.code !== 'MODULE_NOT_FOUND') throw problem;
      refuse(`a package is missing: ${problem.message.split('\n')[0]}`, 'run: npm ci');
    });
}
