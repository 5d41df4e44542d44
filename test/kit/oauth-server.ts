import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';

/** What an authorization server or its MCP server does out of line; may be changed at any time. */
export interface OAuthSwitches {
  /** What its metadata has for PKCE; null leaves it out. */
  challengeMethods?: readonly string[] | null;
  /** The issuer its metadata name. */
  issuer?: string | undefined;
  /** The `resource` of the protected resource metadata. */
  resource?: string;
  /** `resource_metadata` of the challenge. */
  metadataUrl?: string;
  /** Where the protected resource metadata redirect to. */
  redirectMetadata?: string;
  /** Metadata have so many bytes besides. */
  padding?: number;
  /** No metadata of any kind. */
  silent?: boolean;
  /** What the token endpoint answers instead of doing its work. */
  token?: { status: number; type: string; body: string };
  /** The token endpoint waits for this before it answers. */
  hold?: Promise<void>;
  /** The metadata of the authorization server wait for this. */
  holdMetadata?: Promise<void>;
  /** Every refresh token is refused. */
  refuseRefresh?: boolean;
  /** `iss` of the answer; null: none. */
  iss?: string | null;
  /** The error the person's refusal comes back with. */
  deny?: string;
  noRegistration?: boolean;
  clientDocuments?: boolean;
  /** Fetches the document of a client whose id is an address; without it such a client is believed. */
  documentOf?: (id: string) => Promise<unknown>;
  /** Seconds; default 3600. */
  expiresIn?: number;
  /** The scope that calls of tools need besides. */
  callScope?: string;
  /** Resources of the MCP server, of whose changes it tells on a stream; with them it takes a log level. */
  resources?: readonly string[];
}

interface Issued {
  /** Who signed in over here: the cookie `account` of their browser. */
  readonly account: string;
  readonly client: string;
  readonly scope: string;
  readonly resource: string | null;
}

export interface OAuthFixture {
  readonly url: string;
  readonly issuer: string;
  readonly switches: OAuthSwitches;
  /** Bodies of registrations. */
  readonly registered: Record<string, unknown>[];
  /** Parameters of token requests, in order. */
  readonly exchanges: URLSearchParams[];
  readonly authorizations: URLSearchParams[];
  readonly revoked: string[];
  /** Paths asked for without a token where one is needed, and with a wrong one. */
  readonly refusals: (string | undefined)[];
  /** Paths of everything the authorization server was asked. */
  readonly asked: string[];
  /** Everything that must never be seen outside: tokens, codes, secrets. */
  readonly secrets: string[];
  readonly calls: {
    readonly token: string;
    readonly account: string;
    readonly text: unknown;
    readonly headers: IncomingHttpHeaders;
  }[];
  /** Whose token each request had that asked for the list of tools. */
  readonly listings: string[];
  /** Every request of the MCP server, with whose token it came. */
  readonly requests: { readonly account: string; readonly method: string; readonly params: Record<string, unknown> }[];
  /** Says something on each stream that is open with a token of this account; returns on how many. */
  say(account: string, message: unknown): number;
  /** All access tokens become invalid. */
  expireAll(): void;
  /** All tokens of an account become invalid, refresh tokens too. */
  endSignInOf(account: string): void;
  /** A client that was registered by hand. */
  addClient(id: string, secret: string): void;
  /** Tokens given outside of any flow. */
  issue(scope?: string): { access: string; refresh: string };
  close(): Promise<void>;
}

/**
 * A real authorization server and, on another port, an MCP server that it guards. Registration, code with PKCE,
 * rotation of refresh tokens, revocation.
 */
export async function oauthFixture(switches: OAuthSwitches = {}): Promise<OAuthFixture> {
  const clients = new Map<string, { secret: string | undefined; redirectUris: string[] | undefined }>();
  const codes = new Map<string, Issued & { challenge: string; redirectUri: string }>();
  const access = new Map<string, Issued & { expiresAt: number }>();
  const refresh = new Map<string, Issued>();
  const fixture = {
    switches,
    registered: [] as Record<string, unknown>[],
    exchanges: [] as URLSearchParams[],
    authorizations: [] as URLSearchParams[],
    revoked: [] as string[],
    refusals: [] as (string | undefined)[],
    asked: [] as string[],
    secrets: [] as string[],
    calls: [] as { token: string; account: string; text: unknown; headers: IncomingHttpHeaders }[],
    listings: [] as string[],
    requests: [] as { account: string; method: string; params: Record<string, unknown> }[],
  };
  const streams = new Map<ServerResponse, string>();
  const secret = (kind: string) => {
    const text = `canary-${kind}-${randomBytes(18).toString('hex')}`;
    fixture.secrets.push(text);
    return text;
  };

  function issue(about: Issued, expiresIn = switches.expiresIn ?? 3600) {
    const tokens = { access: secret('access'), refresh: secret('refresh') };
    access.set(tokens.access, { ...about, expiresAt: Date.now() + expiresIn * 1000 });
    refresh.set(tokens.refresh, about);
    return tokens;
  }

  function tokenFor(form: URLSearchParams): Record<string, unknown> | string {
    const grant = form.get('grant_type');
    let about: Issued | undefined;
    if (grant === 'authorization_code') {
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (!code || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
        return 'invalid_grant';
      if (code.resource !== form.get('resource')) return 'invalid_target';
      about = code;
    } else if (grant === 'refresh_token') {
      const token = form.get('refresh_token') ?? '';
      about = switches.refuseRefresh ? undefined : refresh.get(token);
      // Rotation: an old one used again is a theft.
      refresh.delete(token);
    }
    if (!about) return 'invalid_grant';
    const tokens = issue(about);
    return {
      access_token: tokens.access,
      refresh_token: tokens.refresh,
      token_type: 'Bearer',
      expires_in: switches.expiresIn ?? 3600,
      scope: about.scope,
    };
  }

  function clientOf(req: IncomingMessage, form: URLSearchParams): string | undefined {
    const basic = /^Basic (.+)$/.exec(req.headers.authorization ?? '')?.[1];
    const [id, given] =
      basic === undefined
        ? [form.get('client_id') ?? '', form.get('client_secret') ?? undefined]
        : Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent);
    if (id?.startsWith('https://') && switches.clientDocuments) return id;
    const client = clients.get(id ?? '');
    return client && client.secret === given ? id : undefined;
  }

  async function isDocumented(id: string, redirectUri: string): Promise<boolean> {
    if (!id.startsWith('https://')) return false;
    if (!switches.documentOf) return true;
    const found = (await switches.documentOf(id)) as { client_id?: unknown; redirect_uris?: unknown[] };
    return found.client_id === id && found.redirect_uris?.includes(redirectUri) === true;
  }

  const authority = await serve(async (req, res, url, body) => {
    fixture.asked.push(url.pathname);
    const path = `${req.method} ${url.pathname}`;
    if (path === 'GET /.well-known/oauth-authorization-server' && !switches.silent) {
      await switches.holdMetadata;
      const { origin } = authority;
      return json(res, 200, {
        issuer: switches.issuer ?? origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
        ...(!switches.noRegistration && { registration_endpoint: `${origin}/register` }),
        ...(switches.clientDocuments && { client_id_metadata_document_supported: true }),
        response_types_supported: ['code'],
        ...(switches.challengeMethods !== null && {
          code_challenge_methods_supported: switches.challengeMethods ?? ['S256'],
        }),
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
        authorization_response_iss_parameter_supported: true,
        ...(switches.padding !== undefined && { padding: 'x'.repeat(switches.padding) }),
      });
    }
    if (path === 'POST /register' && !switches.noRegistration) {
      const metadata = JSON.parse(body) as Record<string, unknown>;
      fixture.registered.push(metadata);
      const id = `client-${fixture.registered.length}`;
      clients.set(id, { secret: undefined, redirectUris: metadata['redirect_uris'] as string[] });
      return json(res, 201, { ...metadata, client_id: id });
    }
    if (path === 'GET /authorize') {
      const query = url.searchParams;
      fixture.authorizations.push(query);
      const id = query.get('client_id') ?? '';
      const redirectUri = query.get('redirect_uri') ?? '';
      const client = clients.get(id);
      const known = client ? (client.redirectUris?.includes(redirectUri) ?? true) : await isDocumented(id, redirectUri);
      if (!known || query.get('code_challenge_method') !== 'S256') return json(res, 400, { error: 'invalid_request' });
      const back = new URL(redirectUri);
      back.searchParams.set('state', query.get('state') ?? '');
      if (switches.iss !== null) back.searchParams.set('iss', switches.iss ?? authority.origin);
      if (switches.deny === undefined) {
        const code = secret('code');
        codes.set(code, {
          account: /(?:^|;\s*)account=([^;]*)/.exec(req.headers.cookie ?? '')?.[1] ?? 'nobody',
          client: id,
          scope: query.get('scope') ?? '',
          resource: query.get('resource'),
          challenge: query.get('code_challenge') ?? '',
          redirectUri,
        });
        back.searchParams.set('code', code);
      } else back.searchParams.set('error', switches.deny);
      res.writeHead(302, { location: back.href }).end();
      return;
    }
    if (path === 'POST /token') {
      const form = new URLSearchParams(body);
      fixture.exchanges.push(form);
      await switches.hold;
      if (switches.token) {
        res.writeHead(switches.token.status, { 'content-type': switches.token.type }).end(switches.token.body);
        return;
      }
      if (clientOf(req, form) === undefined) return json(res, 401, { error: 'invalid_client' });
      const answer = tokenFor(form);
      return typeof answer === 'string' ? json(res, 400, { error: answer }) : json(res, 200, answer);
    }
    if (path === 'POST /revoke') {
      const token = new URLSearchParams(body).get('token') ?? '';
      fixture.revoked.push(token);
      access.delete(token);
      refresh.delete(token);
      return json(res, 200, {});
    }
    return json(res, 404, { error: 'not_found' });
  });

  const guarded = await serve(async (req, res, url, body) => {
    if (url.pathname === '/.well-known/oauth-protected-resource/mcp' && !switches.silent) {
      if (switches.redirectMetadata !== undefined) {
        res.writeHead(302, { location: switches.redirectMetadata }).end();
        return;
      }
      return json(res, 200, {
        resource: switches.resource ?? `${guarded.origin}/mcp`,
        authorization_servers: [authority.origin],
        scopes_supported: ['mail:read'],
      });
    }
    if (url.pathname !== '/mcp') return json(res, 404, {});
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
    const about = access.get(token ?? '');
    const metadata = switches.metadataUrl ?? `${guarded.origin}/.well-known/oauth-protected-resource/mcp`;
    if (!about || about.expiresAt <= Date.now()) {
      fixture.refusals.push(token);
      res.setHeader('www-authenticate', switches.silent ? 'Bearer' : `Bearer resource_metadata="${metadata}"`);
      return json(res, 401, { error: 'invalid_token', error_description: `no good: ${token ?? 'none'}` });
    }
    if (req.method === 'GET' && switches.resources) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.set(res, about.account);
      res.on('close', () => streams.delete(res));
      return;
    }
    if (req.method !== 'POST') return json(res, 405, {});
    const message = JSON.parse(body) as { id?: number; method: string; params?: { arguments?: { text?: unknown } } };
    fixture.requests.push({ account: about.account, method: message.method, params: { ...message.params } });
    if (message.id === undefined) {
      res.writeHead(202).end();
      return;
    }
    if (message.method === 'tools/call') {
      if (switches.callScope !== undefined && !about.scope.split(' ').includes(switches.callScope)) {
        const asked = `error="insufficient_scope", scope="${switches.callScope}", resource_metadata="${metadata}"`;
        res.setHeader('www-authenticate', `Bearer ${asked}`);
        return json(res, 403, {});
      }
      fixture.calls.push({
        token: token ?? '',
        account: about.account,
        text: message.params?.arguments?.text,
        headers: req.headers,
      });
    }
    if (message.method === 'tools/list') fixture.listings.push(about.account);
    return json(res, 200, {
      jsonrpc: '2.0',
      id: message.id,
      result: resultOf(message.method, message.params, switches),
    });
  });

  return {
    ...fixture,
    url: `${guarded.origin}/mcp`,
    issuer: authority.origin,
    expireAll: () => access.clear(),
    endSignInOf(account) {
      for (const tokens of [access, refresh])
        for (const [token, about] of tokens) if (about.account === account) tokens.delete(token);
    },
    addClient(id, given) {
      fixture.secrets.push(given);
      clients.set(id, { secret: given, redirectUris: undefined });
    },
    say(account, message) {
      const open = [...streams].filter(([, own]) => own === account);
      for (const [stream] of open) stream.write(`data: ${JSON.stringify(message)}\n\n`);
      return open.length;
    },
    issue: (scope = 'mail:read') => issue({ account: 'by-hand', client: 'by-hand', scope, resource: null }),
    async close() {
      await Promise.all([authority.close(), guarded.close()]);
    },
  };
}

function resultOf(
  method: string,
  params: { arguments?: { text?: unknown } } | undefined,
  { resources }: OAuthSwitches,
): unknown {
  if (method === 'initialize') {
    const serverInfo = { name: 'guarded', version: '1' };
    const capabilities = { tools: {}, ...(resources && { resources: { subscribe: true }, logging: {} }) };
    return { protocolVersion: '2025-06-18', capabilities, serverInfo };
  }
  if (method === 'resources/list') return { resources: resources?.map((uri) => ({ uri, name: uri })) };
  if (method === 'resources/templates/list') return { resourceTemplates: [] };
  if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: String(params?.arguments?.text) }] };
  return {};
}

function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function serve(
  answer: (req: IncomingMessage, res: ServerResponse, url: URL, body: string) => Promise<void> | void,
): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const url = new URL(req.url ?? '/', 'http://fixture');
      Promise.resolve(answer(req, res, url, Buffer.concat(chunks).toString())).catch((error: unknown) =>
        res.destroy(error as Error),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }));
  atEnd(close);
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
