#!/usr/bin/env node
'use strict';
if (process.argv.includes('--version'))
  console.log(`agentorchestr-scripted ${require('../package.json').version}`);
else void import('../dist/main/scripted.js').then((main) => main.run(process.argv.slice(2)));
