// A server on 2.x of the TypeScript SDK with all that the modern era has: over stdio, with a port over Streamable HTTP.
// Stands where the SDK is installed.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { ProtocolError, Server, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const INVALID_PARAMS = -32602;
const LANGUAGES = ['python', 'php', 'perl', 'go'];
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const string = { type: 'string' };
const number = { type: 'number' };
const object = (properties = {}) => ({ type: 'object', properties, required: Object.keys(properties) });
const text = (words, more) => ({ content: [{ type: 'text', text: words }], ...more });
const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', default: 'visitor' },
    size: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    colour: { type: 'string', enum: ['red', 'green'], default: 'green' },
  },
  required: ['name'],
};
let updated; // tells of a changed resource, by its URI

// The client's answer to a question, or what asks it.
function asked({ mcpReq }, name, question, use) {
  const answer = mcpReq.inputResponses?.it;
  if (!answer) return inputRequired({ inputRequests: { it: question }, requestState: `a state of ${name}` });
  if (mcpReq.requestState() !== `a state of ${name}`) throw new ProtocolError(INVALID_PARAMS, 'the state is another one');
  return text(use(answer));
}

async function count({ mcpReq }, steps) {
  for (let step = 1; step <= steps; step++) {
    const progress = { progressToken: mcpReq._meta?.progressToken, progress: step, total: steps };
    await mcpReq.notify({ method: 'notifications/progress', params: progress });
  }
  return text(`counted to ${steps}`);
}

async function log({ mcpReq }) {
  for (const level of LEVELS) await mcpReq.log(level, `a message at ${level}`, 'typescript');
  return text('logged');
}

async function touch(uri) {
  await updated(uri);
  return text('touched');
}

const TOOLS = {
  echo: [object({ message: string }), (ctx, { message }) => text(message)],
  add: [object({ a: number, b: number }), (ctx, { a, b }) => text(`${a + b}`, { structuredContent: { sum: a + b } })],
  count: [object({ steps: { type: 'integer' } }), (ctx, { steps }) => count(ctx, steps)],
  slow: [object({ seconds: number }), (ctx, { seconds }) => sleep(seconds * 1000, text('slept'), { signal: ctx.mcpReq.signal })],
  ask_model: [object({ prompt: string }), (ctx, { prompt }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    const question = inputRequired.createMessage({ messages, maxTokens: 50 });
    return asked(ctx, 'ask_model', question, ({ content }) => `the model said: ${content.text}`);
  }],
  ask_user: [object(), (ctx) => {
    const question = inputRequired.elicit({ message: 'Who are you?', requestedSchema: form });
    return asked(ctx, 'ask_user', question, ({ action, content }) => `${action}: ${JSON.stringify(content)}`);
  }],
  roots: [object(), (ctx) => asked(ctx, 'roots', inputRequired.listRoots(), ({ roots }) => roots.map(({ uri }) => uri).join(' '))],
  region: [object({ region: { ...string, 'x-mcp-header': 'Region' } }), (ctx, { region }) => text(`it is ${region}`)],
  log: [object(), log],
  touch: [object({ uri: string }), (ctx, { uri }) => touch(uri)],
  fail: [object(), () => text('it failed, as it should', { isError: true })],
};

function read(uri) {
  if (uri === 'test://readme') return 'Hello from TypeScript';
  if (uri.startsWith('test://items/')) return `Item ${uri.split('/').at(-1)}`;
  throw new ProtocolError(INVALID_PARAMS, 'Resource not found', { uri });
}

function made() {
  const server = new Server({ name: 'typescript-server', version: '1.0' }, {
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
    instructions: 'Everything that the tests ask for.',
  });
  updated = (uri) => server.sendResourceUpdated({ uri });
  const tools = Object.entries(TOOLS).map(([name, [inputSchema]]) => ({ name, inputSchema }));
  server.setRequestHandler('tools/list', ({ params }) => {
    const first = Number(params?.cursor ?? 0);
    return { tools: tools.slice(first, first + 4), nextCursor: first + 4 < tools.length ? `${first + 4}` : undefined };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    if (!TOOLS[params.name]) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`);
    return TOOLS[params.name][1](ctx, params.arguments ?? {});
  });
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'test://readme', name: 'readme' }] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://items/{id}', name: 'item' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [{ uri, text: read(uri) }] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    prompts: [{ name: 'review', arguments: [{ name: 'language', required: true }] }],
  }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    if (params.name !== 'review') throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${params.name}`);
    if (!params.arguments?.language) throw new ProtocolError(INVALID_PARAMS, 'The prompt needs a language');
    const words = `Please review this ${params.arguments.language} code.`;
    return { messages: [{ role: 'user', content: { type: 'text', text: words } }] };
  });
  server.setRequestHandler('completion/complete', ({ params }) => {
    const values = LANGUAGES.filter((name) => name.startsWith(params.argument.value));
    return { completion: { values, total: values.length } };
  });
  return server;
}

const port = process.argv[2];
if (port) {
  const handler = createMcpHandler(() => {
    const server = made();
    updated = (uri) => handler.notify.resourceUpdated(uri);
    return server;
  });
  createServer(toNodeHandler(handler)).listen(Number(port), '127.0.0.1');
} else {
  serveStdio(made);
}
