import type { IncomingMessage, ServerResponse } from 'node:http';

/** The request line and headers as the transport reads them; the body is handed over parsed. */
export function toWebRequest(request: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method ?? 'GET',
    headers,
  });
}

/** Streams an answer; a client that hangs up cancels the stream. A dropped connection is not a cancelled call (MCP 2025-11-25). */
export async function writeWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) {
    response.end();
    return;
  }
  response.socket?.setNoDelay(true);
  response.flushHeaders();
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const hangUp = () => void reader.cancel().catch(() => undefined);
  response.on('close', hangUp);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!response.write(value)) await new Promise<void>((resolve) => onceEither(response, resolve));
  }
  response.off('close', hangUp);
  response.end();
}

function onceEither(response: ServerResponse, resolve: () => void): void {
  const finish = () => {
    response.off('drain', finish);
    response.off('close', finish);
    resolve();
  };
  response.on('drain', finish);
  response.on('close', finish);
}
