#!/usr/bin/env node
'use strict';
// Old syntax on purpose: an old Node must get as far as the message that says so.
const entry = require('path').join(__dirname, '../dist/main/agentctl.js');
if (!require('fs').existsSync(entry)) {
  process.stderr.write('error: this copy of agentorchestr is not built\nhint: run: npm run build\n');
  process.exitCode = 1;
} else {
  void import(entry).then((main) => main.run(process.argv.slice(2)));
}
