#!/usr/bin/env node
'use strict';
// Posts what an agent's command hook reads on stdin to the session: agentorchestr-hook URL TOKEN_VARIABLE [answer].
// With "answer" it prints what the session says to that, for as long as that takes. Never fails the agent: a session
// that is not there is a missed hook.
const [, , url, variable, answers] = process.argv;
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', () => {
  const request = require('node:http').request(url, {
    method: 'POST',
    ...(answers === 'answer' ? {} : { timeout: 5_000 }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env[variable]}` },
  });
  request.on('error', () => undefined);
  request.on('timeout', () => request.destroy());
  if (answers === 'answer')
    request.on('response', (response) => {
      if (response.statusCode === 200) response.pipe(process.stdout);
      else response.resume();
    });
  request.end(Buffer.concat(chunks));
});
