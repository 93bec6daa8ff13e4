// The official TypeScript client:
//   node typescript.mjs FIGURE --server 'JSON argv' | --url URL [--era E] [--n N] [--flight K]
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
let StdioClientTransport;
if (words.server) ({ StdioClientTransport } = await load('@modelcontextprotocol/client/stdio'));
const newTransport = () => {
  if (!words.server) return new StreamableHTTPClientTransport(new URL(words.url));
  const [command, ...args] = JSON.parse(words.server);
  return new StdioClientTransport({ command, args });
};
const mode = words.era === 'modern' ? { pin: '2026-07-28' } : words.era ?? 'legacy';
let seen = 0;
const open = async () => {
  const opened = new Client(
    { name: 'bench', version: '1' },
    { capabilities: {}, listMaxPages: 1000, versionNegotiation: { mode } },
  );
  opened.setNotificationHandler('notifications/message', () => { seen++; });
  await opened.connect(newTransport());
  return opened;
};

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
const LONGEST = 10;
const wall = () => performance.now() / 1000;
const cpu = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
const rate = (count, start, before) => ({
  per_s: count / (wall() - start),
  cpu_us: ((cpu() - before) / count) * 1e6,
});
const bestOf = (bursts) => ({
  per_s: Math.max(...bursts.map((burst) => burst.per_s)),
  cpu_us: Math.min(...bursts.map((burst) => burst.cpu_us)),
});

// From nothing to a connection that is agreed on.
const connect = async () => {
  let best;
  for (let burst = 0; burst < (n || BURSTS); burst++) {
    const start = wall();
    const before = cpu();
    const opened = await open();
    const found = { s: wall() - start, cpu_s: cpu() - before };
    await opened.close();
    if (!best || found.s < best.s) best = found;
  }
  console.log(JSON.stringify(best));
  process.exit(0);
};
if (figure === 'connect') await connect();
const client = await open();

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
      const before = cpu();
      await Promise.all(Array.from({ length: flight }, work));
      return rate(count, start, before);
    };
    await many(flight * 3);
    const bursts = [];
    for (let burst = 0; burst < BURSTS; burst++) bursts.push(await many(n || 5000));
    return bestOf(bursts);
  },
  async notifications() {
    const count = n || 100000;
    await call({ text: 'hello' });
    const bursts = [];
    const began = wall();
    while (bursts.length < BURSTS && wall() - began < LONGEST) {
      const start = wall();
      const before = cpu();
      await call({ notifications: count });
      while (seen < count * (bursts.length + 1)) await new Promise((done) => setTimeout(done, 1));
      bursts.push(rate(count, start, before));
    }
    return { ...bestOf(bursts), seen };
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
