// A protected server on Cloudflare's workers-oauth-provider, which many hosted MCP servers use: `auth_cloudflare.mjs PORT`.
// Ours are what its platform would give it, the store and the module that it imports; a page to log in at; and `/control/…`,
// which plays what time and an administrator do.
import { createServer } from 'node:http';
import { register } from 'node:module';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';

const platform = 'data:text/javascript,export class WorkerEntrypoint {}';
const hooks = `export const resolve = (name, context, next) =>
  name === 'cloudflare:workers' ? { url: '${platform}', shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
const { OAuthProvider, insufficientScope } = await import('@cloudflare/workers-oauth-provider');

const port = Number(process.argv[2]);
const here = `http://127.0.0.1:${port}`;
const scopes = ['read', 'write'];

const kept = new Map();
const store = {
  get: async (key, options) => {
    const text = kept.get(key) ?? null;
    return text !== null && (options?.type ?? options) === 'json' ? JSON.parse(text) : text;
  },
  put: async (key, text) => void kept.set(key, text),
  delete: async (key) => void kept.delete(key),
  list: async ({ prefix = '' } = {}) => ({
    keys: [...kept.keys()].filter((name) => name.startsWith(prefix)).map((name) => ({ name })),
    list_complete: true,
  }),
};

function made() {
  const server = new McpServer({ name: 'protected', version: '1.0' });
  const said = (text) => async () => ({ content: [{ type: 'text', text }] });
  server.registerTool('read', { description: 'Reads' }, said('it was read'));
  server.registerTool('write', { description: 'Writes' }, said('it was written'));
  return server;
}
const mcp = createMcpHandler(made);

const page = '<form method="post"><input name="user"><input type="password" name="password"><button>Log in</button></form>';
const provider = new OAuthProvider({
  apiRoute: '/mcp',
  apiHandler: {
    async fetch(request, env, context) {
      const called = request.method === 'POST' ? await request.clone().json() : {};
      const writes = called.params?.name === 'write' && !context.auth.scope.includes('write');
      return writes ? insufficientScope(context.auth, scopes) : mcp.fetch(request);
    },
  },
  defaultHandler: {
    async fetch(request, env) {
      if (new URL(request.url).pathname !== '/authorize') return new Response(null, { status: 404 });
      const asked = await env.OAUTH_PROVIDER.parseAuthRequest(
        request.method === 'POST' ? new Request(request.url) : request,
      );
      if (request.method === 'GET') return new Response(page, { headers: { 'Content-Type': 'text/html' } });
      const { redirectTo } = await env.OAUTH_PROVIDER.completeAuthorization({
        request: asked,
        userId: 'alice',
        metadata: {},
        scope: asked.scope,
        props: {},
      });
      return Response.redirect(redirectTo);
    },
  },
  authorizeEndpoint: '/authorize',
  tokenEndpoint: '/token',
  clientRegistrationEndpoint: '/register',
  scopesSupported: scopes,
  requiredScopes: ['read'],
  resourceMetadata: { resource: `${here}/mcp`, authorization_servers: [here] },
  onError: () => {},
});

const entries = (kind) => [...kept].filter(([key]) => key.startsWith(`${kind}:`));
const now = () => Date.now() / 1000;

// `expire` the tokens that are there; `revoke` them; `forget` everything, as a restart.
function control(path) {
  const what = path.split('/')[2];
  for (const [key, text] of entries('token')) {
    if (what === 'expire') kept.set(key, JSON.stringify({ ...JSON.parse(text), expiresAt: 1 }));
  }
  if (what === 'revoke') for (const [key] of [...entries('token'), ...entries('grant')]) kept.delete(key);
  if (what === 'forget') kept.clear();
  return Response.json({
    access: entries('token').filter(([, text]) => JSON.parse(text).expiresAt > now()).length,
    refresh: entries('grant').length,
    clients: entries('client').length,
  });
}

async function serve(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/control/')) return control(pathname);
  return provider.fetch(request, { OAUTH_KV: store }, { waitUntil() {}, passThroughOnException() {}, props: {} });
}

createServer(toNodeHandler({ fetch: serve })).listen(port, '127.0.0.1');
