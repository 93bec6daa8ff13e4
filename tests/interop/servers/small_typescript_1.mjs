// A small server on any 1.x of the TypeScript SDK: `small_typescript_1.mjs PACKAGE [PORT]`. Over stdio; with a port over
// Streamable HTTP at /mcp and HTTP+SSE at /sse. Stands where PACKAGE, the name that the SDK is installed by, is found.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const [sdk, port] = process.argv.slice(2);
const { Server } = await import(`${sdk}/server/index.js`);
const { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } = await import(`${sdk}/types.js`);
const number = { type: 'number' };
const add = {
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
};

function made() {
  const server = new Server({ name: 'small', version: '1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [add] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: { a, b } = {} } }) => {
    if (name !== add.name) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
    return { content: [{ type: 'text', text: `the sum is ${a + b}` }] };
  });
  return server;
}

async function overStdio() {
  const { StdioServerTransport } = await import(`${sdk}/server/stdio.js`);
  await made().connect(new StdioServerTransport());
}

async function overHttp() {
  const { StreamableHTTPServerTransport } = await import(`${sdk}/server/streamableHttp.js`);
  const { SSEServerTransport } = await import(`${sdk}/server/sse.js`);
  const sessions = new Map();

  async function streamable(request, response) {
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await made().connect(transport);
    return transport.handleRequest(request, response);
  }

  async function sse(request, response) {
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    await made().connect(transport);
  }

  createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    const session = sessions.get(searchParams.get('sessionId'));
    if (pathname === '/mcp') streamable(request, response);
    else if (pathname === '/sse' && request.method === 'GET') sse(request, response);
    else if (pathname === '/messages' && session) session.handlePostMessage(request, response);
    else response.writeHead(404).end();
  }).listen(Number(port), '127.0.0.1');
}

await (port ? overHttp() : overStdio());
