// A small server on 2.x of the TypeScript SDK: `small_typescript_2.mjs serve|reject [PORT]`, which says what becomes of
// clients of the legacy era. Over stdio; with a port over Streamable HTTP. Stands where the SDK is installed.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { ProtocolError, Server, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const INVALID_PARAMS = -32602;
const [handshakes, port] = process.argv.slice(2);
const number = { type: 'number' };
const add = {
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
};

function made() {
  const server = new Server({ name: 'small', version: '1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [add] }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: { a, b } = {} } }) => {
    if (name !== add.name) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name}`);
    return { content: [{ type: 'text', text: `the sum is ${a + b}` }] };
  });
  return server;
}

if (port) {
  const handler = createMcpHandler(made, { legacy: handshakes === 'serve' ? 'stateless' : 'reject' });
  createServer(toNodeHandler(handler)).listen(Number(port), '127.0.0.1');
} else {
  serveStdio(made, { legacy: handshakes });
}
