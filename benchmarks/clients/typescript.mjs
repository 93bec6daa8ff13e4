// The official TypeScript client: node typescript.mjs FIGURE --server 'JSON argv' | --url URL [--n N] [--flight K]
// Packages are resolved from the folder in BENCH_NPM. Measures and prints what figures.py does.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [figure, ...rest] = process.argv.slice(2);
const words = {};
for (let i = 0; i < rest.length; i += 2) words[rest[i].slice(2)] = rest[i + 1];
const require = createRequire(path.join(process.env.BENCH_NPM, 'x.js'));
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
const client = new Client({ name: 'bench', version: '1' }, { capabilities: {}, listMaxPages: 1000 });
let seen = 0;
client.setNotificationHandler('notifications/message', () => { seen++; });
await client.connect(transport);

const call = async (args) => {
  const result = await client.callTool({ name: 'echo', arguments: args }, { timeout: 120000 });
  return result.content[0]?.text ?? '';
};
const tools = async () => {
  let total = 0;
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    total += page.tools.length;
    cursor = page.nextCursor;
  } while (cursor);
  return total;
};
const n = Number(words.n || 0);
const flight = Number(words.flight || 100);
const BURSTS = 5;
const wall = () => performance.now() / 1000;
const cpu = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };

const figures = {
  async cold() {
    return { tools: await tools() };
  },
  async latency() {
    for (let i = 0; i < 200; i++) await call({ text: 'hello' });
    const times = [];
    const before = cpu();
    for (let i = 0; i < (n || 2000); i++) {
      const start = wall();
      await call({ text: 'hello' });
      times.push(wall() - start);
    }
    const used = cpu() - before;
    times.sort((a, b) => a - b);
    return { p50_us: times[times.length >> 1] * 1e6, cpu_us: (used / times.length) * 1e6 };
  },
  async throughput() {
    let left = 0;
    const work = async () => { while (left > 0) { left--; await call({ text: 'hello' }); } };
    const many = async (count) => {
      left = count;
      const start = wall();
      await Promise.all(Array.from({ length: flight }, work));
      return count / (wall() - start);
    };
    await many(flight * 3);
    let best = 0;
    for (let burst = 0; burst < BURSTS; burst++) best = Math.max(best, await many(n || 5000));
    return { per_s: best };
  },
  async notifications() {
    const count = n || 100000;
    await call({ text: 'hello' });
    let best = 0;
    for (let burst = 1; burst <= BURSTS; burst++) {
      const start = wall();
      await call({ notifications: count });
      while (seen < count * burst) await new Promise((done) => setTimeout(done, 1));
      best = Math.max(best, count / (wall() - start));
    }
    return { per_s: best, seen };
  },
  async large() {
    const megabytes = n || 50;
    await call({ text: 'hello' });
    const start = wall();
    const before = cpu();
    const text = await call({ megabytes });
    const found = { cpu_s: cpu() - before, s: wall() - start };
    if (text.length !== megabytes * 1e6) throw new Error('cut');
    return found;
  },
  async pages() {
    await call({ text: 'hello' });
    let best;
    for (let burst = 0; burst < BURSTS; burst++) {
      const start = wall();
      const before = cpu();
      const total = await tools();
      const found = { cpu_s: cpu() - before, s: wall() - start };
      if (total !== 10000) throw new Error(String(total));
      if (!best || found.cpu_s < best.cpu_s) best = found;
    }
    return best;
  },
};
const found = await figures[figure]();
found.rss_mb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify(found));
await client.close();
process.exit(0);
