// Clients of the TypeScript SDK, doing what they are told: `typescript_client.mjs FOLDER ERA TASKS COMMAND…` or `… URL`,
// as `sdk_client.py`. FOLDER is where the SDK is installed: 1.x for the legacy era, 2.x for the modern one.
import { createRequire } from 'node:module';

const [folder, era, tasks, ...words] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const legacy = era === 'legacy';
const all = legacy
  ? {
      ...require('@modelcontextprotocol/sdk/client/index.js'),
      ...require('@modelcontextprotocol/sdk/client/stdio.js'),
      ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      ...require('@modelcontextprotocol/sdk/types.js'),
    }
  : { ...require('@modelcontextprotocol/client'), ...require('@modelcontextprotocol/client/stdio') };
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = all;

const asked = [];
let updated;
const heard = new Promise((resolve) => { updated = resolve; });
const client = new Client(
  { name: 'typescript-client', version: '1.0' },
  {
    capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} },
    ...(legacy ? {} : { versionNegotiation: { mode: 'auto' } }),
  },
);
const handlers = {
  CreateMessage: ['sampling/createMessage', 'sampling', () => ({ role: 'assistant', content: { type: 'text', text: 'It is a test.' }, model: 'test' })],
  Elicit: ['elicitation/create', 'elicitation', () => ({ action: 'accept', content: { name: 'Eve' } })],
  ListRoots: ['roots/list', 'roots', () => ({ roots: [{ uri: 'file:///srv/project' }] })],
};
for (const [name, [method, topic, answer]] of Object.entries(handlers)) {
  client.setRequestHandler(legacy ? all[`${name}RequestSchema`] : method, () => { asked.push(topic); return answer(); });
}
client.setNotificationHandler(legacy ? all.ResourceUpdatedNotificationSchema : 'notifications/resources/updated', () => updated());

const callTool = (call, options) => (legacy ? client.callTool(call, undefined, options) : client.callTool(call, options));

async function pages(list, key, name) {
  const found = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : undefined);
    found.push(...page[key].map((each) => each[name]));
    cursor = page.nextCursor;
  } while (cursor);
  return [...new Set(found)];
}

const doing = {
  tools: () => pages((page) => client.listTools(page), 'tools', 'name'),
  resources: () => pages((page) => client.listResources(page), 'resources', 'uri'),
  read: async (uri) => (await client.readResource({ uri })).contents[0].text,
  prompt: async (name, given) => (await client.getPrompt({ name, arguments: given })).messages[0].content.text,
  call: async (name, given) => {
    let steps = 0;
    const before = asked.length;
    const result = await callTool({ name, arguments: given }, { onprogress: () => { steps += 1; } });
    const text = result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
    return { text, error: Boolean(result.isError), steps, asked: asked.slice(before) };
  },
  cancel: async (name, given) => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    try {
      await callTool({ name, arguments: given }, { signal: stop.signal });
    } catch {
      return 'cancelled';
    }
    return 'it was answered';
  },
  task: async (name, given) => {
    for await (const message of client.experimental.tasks.callToolStream({ name, arguments: given }, undefined, { task: {} })) {
      if (message.type === 'result') return message.result.content[0].text;
      if (message.type === 'error') throw message.error;
    }
    return 'it has no end';
  },
  subscribe: async (uri, [name, given]) => {
    const open = legacy ? await client.subscribeResource({ uri }) : await client.listen({ resourceSubscriptions: [uri] });
    await callTool({ name, arguments: given });
    await heard;
    await open?.close?.();
    return 'told';
  },
};

const url = words[0].startsWith('http');
await client.connect(url ? new StreamableHTTPClientTransport(new URL(words[0])) : new StdioClientTransport({ command: words[0], args: words.slice(1), env: process.env, stderr: 'inherit' }));
const say = (value) => console.log(JSON.stringify(value));
say([client.getServerVersion()?.name ?? '', '']);
for (const [kind, ...what] of JSON.parse(tasks)) {
  try {
    say(await doing[kind](...what));
  } catch (error) {
    say(`error: ${error.message}`);
  }
}
await client.close();
