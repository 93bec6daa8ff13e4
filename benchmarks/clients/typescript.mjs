// The official TypeScript client: node typescript.mjs FIGURE --server 'JSON argv' | --url URL [--n N] [--flight K]
// Packages are resolved from the folder in BENCH_NODE_MODULES. Prints what figures.py prints.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [figure, ...rest] = process.argv.slice(2);
const words = {};
for (let i = 0; i < rest.length; i += 2) words[rest[i].slice(2)] = rest[i + 1];
const require = createRequire(path.join(process.env.BENCH_NODE_MODULES, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
let transport;
if (words.server) {
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const [command, ...args] = JSON.parse(words.server);
  transport = new StdioClientTransport({ command, args });
} else {
  transport = new StreamableHTTPClientTransport(new URL(words.url));
}
const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} });
let seen = 0;
client.fallbackNotificationHandler = async () => { seen++; };
await client.connect(transport);
const call = async (args) => {
  const result = await client.callTool({ name: 'echo', arguments: args }, { timeout: 120000 });
  return result.content[0]?.text ?? '';
};
const n = Number(words.n || 0);
const flight = Number(words.flight || 100);
const cpu = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
const figures = {
  async cold() { return { tools: (await client.listTools()).tools.length }; },
  async latency() {
    for (let i = 0; i < 100; i++) await call({ text: 'hello' });
    const times = [];
    for (let i = 0; i < (n || 2000); i++) {
      const start = performance.now();
      await call({ text: 'hello' });
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    return { p50_us: times[times.length >> 1] * 1000 };
  },
  async throughput() {
    let left = 0;
    const work = async () => { while (left-- > 0) await call({ text: 'hello' }); };
    const many = async (count) => { left = count; await Promise.all(Array.from({ length: flight }, work)); };
    await many(flight * 3);
    const count = n || 5000;
    const start = performance.now();
    await many(count);
    return { per_s: count / (performance.now() - start) * 1000 };
  },
  async notifications() {
    const count = n || 100000;
    await call({ text: 'hello' });
    const start = performance.now();
    await call({ notifications: count });
    while (seen < count) await new Promise((done) => setTimeout(done, 1));
    return { per_s: count / (performance.now() - start) * 1000, seen };
  },
  async large() {
    await call({ text: 'hello' });
    const start = performance.now();
    const before = cpu();
    const text = await call({ megabytes: 50 });
    if (text.length !== 50000000) throw new Error('cut');
    return { s: (performance.now() - start) / 1000, cpu_s: cpu() - before };
  },
  async pages() {
    await call({ text: 'hello' });
    const start = performance.now();
    const before = cpu();
    let total = 0;
    let cursor;
    do {
      const page = await client.request({ method: 'tools/list', params: cursor ? { cursor } : {} });
      total += page.tools.length;
      cursor = page.nextCursor;
    } while (cursor);
    if (total !== 10000) throw new Error(String(total));
    return { s: (performance.now() - start) / 1000, cpu_s: cpu() - before };
  },
};
const found = await figures[figure]();
found.rss_mb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify(found));
await client.close();
process.exit(0);
