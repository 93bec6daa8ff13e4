// A protected server on any 1.x of the TypeScript SDK: `auth_typescript.mjs PACKAGE PORT demo|whole`. PACKAGE is the name that
// the SDK is installed by. Its router is the authorization server; behind it is, for `demo`, the provider of the SDK's own
// example as it is; for `whole` the same, with the refreshing and the revoking that the example leaves out. The tool `write`
// has a gate of the SDK's own that wants a second scope; `/control/…` plays what time and an administrator do.
import { randomUUID } from 'node:crypto';
import express from 'express';

const [sdk, port, kind] = process.argv.slice(2);
const { DemoInMemoryAuthProvider } = await import(`${sdk}/examples/server/demoInMemoryOAuthProvider.js`);
const { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } = await import(`${sdk}/server/auth/router.js`);
const { requireBearerAuth } = await import(`${sdk}/server/auth/middleware/bearerAuth.js`);
const { InvalidGrantError, InvalidTokenError } = await import(`${sdk}/server/auth/errors.js`);
const { McpServer } = await import(`${sdk}/server/mcp.js`);
const { StreamableHTTPServerTransport } = await import(`${sdk}/server/streamableHttp.js`);

const here = new URL(`http://127.0.0.1:${port}`);
const resource = new URL('/mcp', here);

class WholeProvider extends DemoInMemoryAuthProvider {
  refreshTokens = new Map();
  issued(tokens, client, scopes) {
    const refresh_token = randomUUID();
    this.refreshTokens.set(refresh_token, { client, scopes, access: tokens.access_token });
    return { ...tokens, refresh_token };
  }
  async exchangeAuthorizationCode(client, code, ...more) {
    const { scopes = [] } = this.codes.get(code).params;
    return this.issued(await super.exchangeAuthorizationCode(client, code, ...more), client, scopes);
  }
  async exchangeRefreshToken(client, refreshToken, asked) {
    const known = this.refreshTokens.get(refreshToken);
    if (known?.client.client_id !== client.client_id) throw new InvalidGrantError('The refresh token is unknown');
    const token = randomUUID();
    const scopes = asked ?? known.scopes;
    const before = this.tokens.get(known.access);
    this.tokens.set(token, { ...before, token, scopes, expiresAt: Date.now() + 3600000 });
    this.tokens.delete(known.access);
    this.refreshTokens.delete(refreshToken);
    const tokens = { access_token: token, token_type: 'bearer', expires_in: 3600, scope: scopes.join(' ') };
    return this.issued(tokens, client, scopes);
  }
  async verifyAccessToken(token) {
    return super.verifyAccessToken(token).catch((error) => {
      throw new InvalidTokenError(error.message);
    });
  }
  async revokeToken(_, { token }) {
    this.tokens.delete(this.refreshTokens.get(token)?.access ?? token);
    this.refreshTokens.delete(token);
  }
}

const Provider = kind === 'demo' ? DemoInMemoryAuthProvider : WholeProvider;
const provider = new Provider((asked) => asked?.href === resource.href);

// `expire` the tokens that are there; `revoke` them; `forget` everything, as a restart.
function control(what) {
  if (what === 'expire') for (const token of provider.tokens.values()) token.expiresAt = 1;
  if (what === 'revoke' || what === 'forget') {
    provider.tokens.clear();
    provider.refreshTokens?.clear();
  }
  if (what === 'forget') provider.clientsStore.clients.clear();
  return {
    access: [...provider.tokens.values()].filter(({ expiresAt }) => expiresAt > Date.now()).length,
    refresh: provider.refreshTokens?.size ?? 0,
    clients: provider.clientsStore.clients.size,
  };
}

function made() {
  const server = new McpServer({ name: 'protected', version: '1.0' });
  const said = (text) => async () => ({ content: [{ type: 'text', text }] });
  server.tool('read', said('it was read'));
  server.tool('write', said('it was written'));
  return server;
}

const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
const gate = (...requiredScopes) => requireBearerAuth({ verifier: provider, provider, requiredScopes, resourceMetadataUrl });
const first = gate('read');
const second = gate('read', 'write');

const app = express();
app.get('/control/:what', (request, response) => {
  response.json(control(request.params.what));
});
const unlimited = { rateLimit: false };
app.use(
  mcpAuthRouter({
    provider,
    issuerUrl: here,
    resourceServerUrl: resource,
    scopesSupported: ['read', 'write'],
    authorizationOptions: unlimited,
    clientRegistrationOptions: unlimited,
    revocationOptions: unlimited,
    tokenOptions: unlimited,
  }),
);
app.post(
  '/mcp',
  express.json(),
  (request, response, next) => (request.body?.params?.name === 'write' ? second : first)(request, response, next),
  async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await made().connect(transport);
    await transport.handleRequest(request, response, request.body);
  },
);
app.all('/mcp', first, (_, response) => response.status(405).end());
app.listen(Number(port), '127.0.0.1');
