// The rival: the SDK's server for one tool, made anew for each request, as its example without sessions does. It answers
// what it is told over IPC.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

let answer = {};
const http = createServer((request, response) => void handle(request, response));

async function handle(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const server = new McpServer({ name: 'rival', version: '0' });
  server.registerTool('list_workers', { description: 'what it was told' }, () => ({
    structuredContent: answer,
    content: [{ type: 'text', text: JSON.stringify(answer) }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, JSON.parse(Buffer.concat(parts).toString('utf8')));
}

process.on('message', (told) => {
  answer = told;
  process.send({});
});
process.on('disconnect', () => process.exit(0));
// As ours: what rests between two rounds stays.
http.keepAliveTimeout = 65_000;
http.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${http.address().port}` }));
