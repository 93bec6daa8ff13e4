// A certified authorization server, oidc-provider, at http://127.0.0.1:ISSUER_PORT/realm, with an MCP server on the TypeScript
// SDK in front of it: `auth_oidc_provider.mjs PORT ISSUER_PORT [dpop]`. Ours are the memory that it keeps things in, so that
// `/control/…` of the MCP server can play what time and an administrator do. Its own development pages are logged in at.
// With `dpop`, tokens are bound to a key, both servers want nonces, and oauth4webapi looks at the proofs.
import { createServer } from 'node:http';
import { randomBytes } from 'node:crypto';
import express from 'express';
import { decodeJwt, exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
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

const [port, issuerPort] = process.argv.slice(2, 4).map(Number);
const bound = process.argv[4] === 'dpop';
const resource = new URL(`http://127.0.0.1:${port}/mcp`);
const issuer = `http://127.0.0.1:${issuerPort}/realm`;
const scopes = ['read', 'write'];

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

// Programs that log in as themselves: by a secret, or by a key, of which the private half is told to whoever asks.
const keys = {};
const programs = [];
for (const method of ['client_secret_basic', 'client_secret_post']) {
  programs.push({ client_id: method, client_secret: 'the-secret-of-a-program', token_endpoint_auth_method: method });
}
for (const alg of ['ES256', 'RS256']) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  keys[alg] = await exportPKCS8(privateKey);
  programs.push({
    client_id: alg,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: alg,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), alg, use: 'sig' }] },
  });
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
    {
      client_id: 'desktop',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/back'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    },
    ...programs.map((program) => ({
      ...program,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
  ],
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    dPoP: { enabled: bound, nonceSecret: randomBytes(32), requireNonce: () => true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: scopes.join(' '), accessTokenTTL: 3600, accessTokenFormat: bound ? 'jwt' : 'opaque' }),
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
  const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
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

// The gate for tokens that are bound to a key; it wants a nonce of its own in the proof.
const nonce = randomBytes(16).toString('base64url');
async function proven(request) {
  const challenge = `resource_metadata="${resourceMetadataUrl}", scope="read"`;
  const refused = (error, more = {}) =>
    new Response(null, {
      status: 401,
      headers: { 'WWW-Authenticate': `DPoP ${error}algs="ES256", ${challenge}`, ...more },
    });
  const [scheme, token] = (request.headers.get('authorization') ?? '').split(' ');
  if (!token) return refused('');
  try {
    const proof = decodeJwt(request.headers.get('dpop') ?? '');
    if (scheme === 'DPoP' && proof.nonce !== nonce) return refused('error="use_dpop_nonce", ', { 'DPoP-Nonce': nonce });
    const claims = await oauth.validateJwtAccessToken(oauthMetadata, request, resource.href, {
      requireDPoP: true,
      [oauth.allowInsecureRequests]: true,
    });
    return { token, clientId: claims.client_id, scopes: claims.scope.split(' '), expiresAt: claims.exp, resource };
  } catch {
    return refused('error="invalid_token", ');
  }
}

const entries = (kind) => [...kept].filter(([key]) => key.startsWith(`${kind}:`)).map(([, payload]) => payload);

// `expire` the tokens that are there; `revoke` them; `forget` everything, as a restart. Answers with how much is good then,
// and with the keys of the programs.
function control(path) {
  const what = path.split('/')[2];
  if (what === 'expire') for (const payload of entries('AccessToken')) payload.exp = 1;
  for (const key of [...kept.keys()]) {
    const token = /^(AccessToken|RefreshToken|Grant):/.test(key);
    if (what === 'forget' || (what === 'revoke' && token)) kept.delete(key);
  }
  const now = Date.now() / 1000;
  return Response.json({
    keys,
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
const bearer = requireBearerAuth({
  verifier: { verifyAccessToken },
  requiredScopes: ['read'],
  resourceMetadataUrl,
  expectedResource: resource,
});
const mcp = createMcpHandler(made);

async function serve(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/control/')) return control(pathname);
  if (bound && pathname === new URL(resourceMetadataUrl).pathname) {
    const about = { resource, authorization_servers: [issuer], scopes_supported: scopes };
    return Response.json({ ...about, dpop_bound_access_tokens_required: true });
  }
  const document = oauthMetadataResponse(request, {
    oauthMetadata,
    resourceServerUrl: resource,
    scopesSupported: scopes,
  });
  if (document) return document;
  if (pathname !== '/mcp') return new Response(null, { status: 404 });
  const authInfo = await (bound ? proven : bearer)(request);
  return authInfo instanceof Response ? authInfo : mcp.fetch(request, { authInfo });
}

createServer(toNodeHandler({ fetch: serve })).listen(port, '127.0.0.1');
