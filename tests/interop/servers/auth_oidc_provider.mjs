// A certified authorization server, oidc-provider, at http://127.0.0.1:ISSUER_PORT/realm, with an MCP server on the TypeScript
// SDK in front of it: `auth_oidc_provider.mjs PORT ISSUER_PORT`. Ours are the memory that it keeps things in, so that
// `/control/…` of the MCP server can play what time and an administrator do. Its own development pages are logged in at.
import { createServer } from 'node:http';
import express from 'express';
import { Provider } from 'oidc-provider';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  McpServer,
  OAuthError,
  OAuthErrorCode,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  oauthMetadataResponse,
  requireBearerAuth,
  requireScopes,
} from '@modelcontextprotocol/server';

const [port, issuerPort] = process.argv.slice(2).map(Number);
const resource = new URL(`http://127.0.0.1:${port}/mcp`);
const issuer = `http://127.0.0.1:${issuerPort}/realm`;
const scopes = ['read', 'write'];
let lifetime = 3600;

const kept = new Map();
class Memory {
  constructor(kind) {
    this.kind = kind;
  }
  key(id) {
    return `${this.kind}:${id}`;
  }
  async upsert(id, payload) {
    kept.set(this.key(id), payload);
  }
  async find(id) {
    return kept.get(this.key(id));
  }
  async findByUid(uid) {
    return [...kept].find(([key, payload]) => key.startsWith(`${this.kind}:`) && payload.uid === uid)?.[1];
  }
  async findByUserCode(code) {
    return [...kept].find(([key, payload]) => key.startsWith(`${this.kind}:`) && payload.userCode === code)?.[1];
  }
  async consume(id) {
    kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    kept.delete(this.key(id));
  }
  async revokeByGrantId(grantId) {
    for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
  }
}

const provider = new Provider(issuer, {
  adapter: Memory,
  scopes: ['openid', 'offline_access', ...scopes],
  clients: [
    {
      client_id: 'fastmcp',
      client_secret: 'the-secret-of-fastmcp',
      redirect_uris: ['http://127.0.0.1/auth/callback'],
      application_type: 'native',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ],
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    dPoP: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: scopes.join(' '), accessTokenTTL: lifetime, accessTokenFormat: 'opaque' }),
      useGrantedResource: () => true,
    },
  },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});

const site = express();
site.use('/realm', provider.callback());
site.listen(issuerPort, '127.0.0.1');

async function verifyAccessToken(token) {
  const found = await provider.AccessToken.find(token);
  if (!found) throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is unknown or has ended');
  return {
    token,
    clientId: found.clientId,
    scopes: [...found.scopes],
    expiresAt: found.exp,
    resource: found.aud ? new URL(found.aud) : undefined,
  };
}

function made() {
  const server = new McpServer({ name: 'protected', version: '1.0' });
  const said = (text) => async () => ({ content: [{ type: 'text', text }] });
  server.registerTool('read', { description: 'Reads' }, said('it was read'));
  const scopeChallenge = requireScopes('read', 'write');
  server.registerTool('write', { description: 'Writes', scopeChallenge }, said('it was written'));
  return server;
}

const entries = (kind) => [...kept].filter(([key]) => key.startsWith(`${kind}:`)).map(([, payload]) => payload);

// `lifetime/SECONDS` of the tokens from now on; `expire` what is there; `revoke` all of it; `forget`, as a restart.
function control(path) {
  const [what, number] = path.split('/').slice(2);
  if (what === 'lifetime') lifetime = Number(number);
  if (what === 'expire') for (const payload of entries('AccessToken')) payload.exp = 1;
  for (const key of [...kept.keys()]) {
    const token = /^(AccessToken|RefreshToken|Grant):/.test(key);
    if (what === 'forget' || (what === 'revoke' && token)) kept.delete(key);
  }
  const now = Date.now() / 1000;
  return Response.json({
    access: entries('AccessToken').filter(({ exp }) => exp > now).length,
    refresh: entries('RefreshToken').filter(({ consumed }) => !consumed).length,
    clients: entries('Client').length,
  });
}

const oauthMetadata = await (async () => {
  for (;;) {
    try {
      return await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
    } catch {
      await new Promise((done) => setTimeout(done, 20));
    }
  }
})();
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
const gate = requireBearerAuth({
  verifier: { verifyAccessToken },
  requiredScopes: ['read'],
  resourceMetadataUrl,
  expectedResource: resource,
});
const mcp = createMcpHandler(made);

async function serve(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/control/')) return control(pathname);
  const document = oauthMetadataResponse(request, {
    oauthMetadata,
    resourceServerUrl: resource,
    scopesSupported: scopes,
  });
  if (document) return document;
  if (pathname !== '/mcp') return new Response(null, { status: 404 });
  const authInfo = await gate(request);
  return authInfo instanceof Response ? authInfo : mcp.fetch(request, { authInfo });
}

createServer(toNodeHandler({ fetch: serve })).listen(port, '127.0.0.1');
