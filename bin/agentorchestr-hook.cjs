#!/usr/bin/env node
'use strict';
// Posts what an agent's command hook reads on stdin to the session: agentorchestr-hook URL TOKEN_VARIABLE. Never fails
// the agent: a session that is not there is a missed hook, and its answer is not printed.
const [, , url, variable] = process.argv;
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', () => {
  const request = require('node:http').request(url, {
    method: 'POST',
    timeout: 5_000,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env[variable]}` },
  });
  request.on('error', () => undefined);
  request.on('timeout', () => request.destroy());
  request.end(Buffer.concat(chunks));
});
