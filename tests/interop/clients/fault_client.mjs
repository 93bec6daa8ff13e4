// A client of the TypeScript SDK: `fault_client.mjs FOLDER PYTHON SERVER FAULT…`, as `fault_client.py`.
import { createRequire } from 'node:module';

const [folder, python, server, ...faults] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const wait = { timeout: 2000 };
const ref = { type: 'ref/prompt', name: 'p' };
for (const fault of faults) {
  const client = new Client({ name: 'fault-client', version: '1.0' });
  const calls = {
    initialize: () => client.connect(new StdioClientTransport({ command: python, args: [server, fault], stderr: 'ignore' }), wait),
    'tools/list': () => client.listTools({}, wait),
    'tools/call': () => client.callTool({ name: 'echo', arguments: {} }, undefined, wait),
    'resources/read': () => client.readResource({ uri: 'x://a' }, wait),
    'prompts/get': () => client.getPrompt({ name: 'p' }, wait),
    'completion/complete': () => client.complete({ ref, argument: { name: 'a', value: '' } }, wait),
  };
  const failed = [];
  for (const [method, call] of Object.entries(calls)) {
    try { await call(); } catch { failed.push(method); if (method === 'initialize') break; }
  }
  console.log(JSON.stringify([fault, failed]));
  await client.close();
}
